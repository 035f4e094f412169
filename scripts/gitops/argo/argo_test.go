package argo

import (
	"os"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/google/go-cmp/cmp"
	log "github.com/sirupsen/logrus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

func TestMain(m *testing.M) {
	log.SetLevel(log.ErrorLevel)
	os.Exit(m.Run())
}

const application = `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: a, namespace: argocd}
spec:
  project: p
  source: {repoURL: https://git.acme.test/a.git, path: x}
  destination: {server: https://kubernetes.default.svc, namespace: mine}
`

const project = `
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: p, namespace: argocd}
spec:
  sourceRepos: [https://git.acme.test/a.git]
  destinations: [{server: https://kubernetes.default.svc, namespace: mine}]
  clusterResourceWhitelist: [{group: "", kind: Namespace}]
  namespaceResourceWhitelist: [{group: apps, kind: Deployment}]
`

func TestDecodeIsStrict(t *testing.T) {
	tests := map[string]struct{ old, with, want string }{
		"all is known":        {"", "", ""},
		"an unknown field":    {"path: x", "path: x, pathh: y", `unknown field "spec.source.pathh"`},
		"another case":        {"repoURL:", "repoUrl:", `unknown field "spec.source.repoUrl"`},
		"another type":        {"project: p", "project: [p]", "cannot unmarshal array"},
		"a field of v1alpha2": {"project: p", "project: p\n  retry: {refresh: true}", `unknown field "spec.retry"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Decode[v1alpha1.Application](object(t, strings.Replace(application, tc.old, tc.with, 1)))
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	tests := map[string]struct {
		old, with string
		want      []string
	}{
		"source and destination are named": {"", "", nil},
		"another repository":               {"a.git", "b.git", []string{"the source https://git.acme.test/b.git is not in its sourceRepos"}},
		"another namespace":                {"namespace: mine", "namespace: yours", []string{`the destination, namespace "yours" of https://kubernetes.default.svc, is not in its destinations`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			app, p := decoded(t, strings.Replace(application, tc.old, tc.with, 1))
			if diff := cmp.Diff(tc.want, Refused(app, p)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusedObject(t *testing.T) {
	deployment, namespace := schema.GroupKind{Group: "apps", Kind: "Deployment"}, schema.GroupKind{Kind: "Namespace"}
	tests := map[string]struct {
		kind       schema.GroupKind
		namespaced bool
		namespace  string
		want       string
	}{
		"a kind in a namespace, both named":  {deployment, true, "mine", ""},
		"a kind of the cluster":              {namespace, false, "", ""},
		"another namespace":                  {deployment, true, "yours", `destinations lack the namespace "yours"`},
		"another kind in a namespace":        {schema.GroupKind{Kind: "Pod"}, true, "mine", `namespaceResourceWhitelist lacks {group: "", kind: Pod}`},
		"another kind of the cluster":        {schema.GroupKind{Kind: "Node"}, false, "", `clusterResourceWhitelist lacks {group: "", kind: Node}`},
		"a kind of the other list":           {deployment, false, "", "clusterResourceWhitelist"},
		"the name of a kind, another group":  {schema.GroupKind{Group: "acme.test", Kind: "Deployment"}, true, "mine", `"acme.test"`},
		"a kind of the cluster, a namespace": {namespace, true, "mine", "namespaceResourceWhitelist"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			app, p := decoded(t, application)
			got := RefusedObject(app, p, tc.kind, tc.namespaced, tc.namespace)
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, wanted is %q", got, tc.want)
			}
		})
	}
}

func decoded(t *testing.T, application string) (*v1alpha1.Application, *v1alpha1.AppProject) {
	t.Helper()
	app, err := Decode[v1alpha1.Application](object(t, application))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Decode[v1alpha1.AppProject](object(t, project))
	if err != nil {
		t.Fatal(err)
	}
	return app, p
}

const configMap = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: argocd-cm
  namespace: openshift-gitops
  labels: {app.kubernetes.io/part-of: argocd}
data:
  application.resourceTrackingMethod: annotation
  resource.customizations.health.acme.test_Thing: |
    return { status = obj.spec.status, message = "as it says" }
`

func TestSettingsAreReadAsArgoCDDoes(t *testing.T) {
	settings, err := ReadSettings(t.Context(), object(t, configMap))
	if err != nil {
		t.Fatal(err)
	}
	if settings.Tracking != "annotation" || len(settings.Checks) != 1 {
		t.Errorf("settings: %+v", settings)
	}
	kinds := map[schema.GroupVersionKind]Judge{
		{Group: "acme.test", Version: "v1", Kind: "Thing"}:                     Ours,
		{Group: "apps", Version: "v1", Kind: "Deployment"}:                     BuiltIn, // in Go
		{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"}:         BuiltIn, // in Lua
		{Group: "operators.coreos.com", Version: "v1", Kind: "OperatorGroup"}:  Nobody,
		{Group: "argoproj.io", Version: "v1alpha1", Kind: "Application"}:       Nobody,
		{Group: "operators.coreos.com", Version: "v1", Kind: "Subscription"}:   BuiltIn,
		{Group: "cert-manager.io", Version: "v1", Kind: "CertificateRequests"}: Nobody,
	}
	for kind, want := range kinds {
		if got, err := settings.Judge(kind); err != nil || got != want {
			t.Errorf("%s: %s, %v", kind, got, err)
		}
	}
	thing := object(t, "apiVersion: acme.test/v1\nkind: Thing\nmetadata: {name: a}\nspec: {status: Degraded}\n")
	if status, message, err := settings.Health(thing); status != "Degraded" || message != "as it says" || err != nil {
		t.Errorf("health: %s %q %v", status, message, err)
	}
	if status, _, err := settings.Health(object(t, "apiVersion: v1\nkind: ConfigMap\n")); status != "" || err != nil {
		t.Errorf("health of what nobody judges: %q %v", status, err)
	}
}

func TestAConfigMapThatArgoCDDoesNotSee(t *testing.T) {
	hidden := strings.Replace(configMap, "part-of: argocd", "part-of: else", 1)
	if _, err := ReadSettings(t.Context(), object(t, hidden)); err == nil || !strings.Contains(err.Error(), "argocd-cm") {
		t.Errorf("error: %v", err)
	}
}

func object(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}
