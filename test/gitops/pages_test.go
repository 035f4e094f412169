package gitops

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

const argoCD = "bootstrap/argocd/existing"

// lead has the settings of the objects that expose a page: an Ingress, a route, or objects of Gateway API or Istio.
type lead struct {
	Hosts, Secrets, Issuers, Backends, Namespaces []string
	TLS, Class                                    string
	Redirects                                     bool // whether it redirects from http to https
}

func TestEachKindOfIngressLeadsToThePageByTLS(t *testing.T) {
	for _, page := range []struct {
		folder, options string // of its kustomization
		want            lead
		classes         map[string]string
	}{
		{"console", "console/ingress/kustomization.yaml", lead{
			Hosts: []string{"console.example.com"}, Secrets: []string{"okd-console-tls"}, Issuers: []string{"an-issuer"},
			Backends: []string{"okd-console:443"}, Namespaces: []string{"okd-console"}, Redirects: true,
		}, map[string]string{"istio": "a-gateway", "gateway-api": "a-gateway", "plain-ingress": "a-gateway"}},
		{argoCD, argoCD + "/kustomization.yaml", lead{
			Hosts: []string{"argocd.example.com"}, Secrets: []string{"argocd-server-tls"}, Issuers: []string{"letsencrypt"},
			Backends: []string{"argocd-server:443"}, Namespaces: []string{"argocd"}, Redirects: true,
		}, map[string]string{"istio": "ingressgateway", "gateway-api": "example", "plain-ingress": "nginx"}},
	} {
		for kind, mode := range map[string]string{"istio": "PASSTHROUGH", "gateway-api": "Passthrough", "plain-ingress": "HTTPS"} {
			t.Run(page.folder+" by "+kind, func(t *testing.T) {
				dir := copied(t)
				edited(t, dir, page.options, "# - "+kind+".yaml", "- "+kind+".yaml")
				if page.folder == "console" {
					edited(t, dir, "console/kustomization.yaml", "# - ", "- ")
					edited(t, dir, "console/kustomization.yaml", "  - cluster-admin.yaml", "  # - cluster-admin.yaml")
					tree.Write(t, dir, map[string]string{"console/console-oidc.yaml": consoleOIDC})
				}
				want := page.want
				want.TLS, want.Class = mode, page.classes[kind]
				if diff := cmp.Diff(want, leadOf(t, built(t, filepath.Join(dir, page.folder)))); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestOpenShiftGitOpsGetsTheSettingsAndNothingElse: the operator of OpenShift GitOps writes argocd-cm itself, so the
// tree must not contain it.
func TestOpenShiftGitOpsGetsTheSettingsAndNothingElse(t *testing.T) {
	content := page.Read(t, "../../gitops/"+argoCD+"/argocd-cm.yaml")
	var settings struct{ Data map[string]any }
	if err := yaml.Unmarshal([]byte(content), &settings); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{{
		"apiVersion": "argoproj.io/v1beta1", "kind": "ArgoCD",
		"metadata": map[string]any{"name": "openshift-gitops", "namespace": "openshift-gitops"},
		"spec":     map[string]any{"extraConfig": settings.Data},
	}}
	var got []map[string]any
	for _, object := range built(t, "../../gitops/bootstrap/argocd/openshift").Resources() {
		got = append(got, fields(t, object.MustYaml()))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// leadOf reads the settings from the Certificates, Gateways, routes and Ingresses of a build.
func leadOf(t *testing.T, objects resmap.ResMap) lead {
	t.Helper()
	found := map[string]map[string]bool{}
	note := func(what string, values ...any) {
		for _, value := range values {
			if found[what] == nil {
				found[what] = map[string]bool{}
			}
			found[what][fmt.Sprint(value)] = true
		}
	}
	for _, object := range objects.Resources() {
		if slices.Contains([]string{"Certificate", "Gateway", "VirtualService", "TLSRoute", "HTTPRoute", "Ingress"}, object.GetKind()) {
			note("namespace", object.GetNamespace())
			read(fields(t, object.MustYaml()), note)
		}
	}
	list := func(what string) []string { return slices.Sorted(maps.Keys(found[what])) }
	return lead{
		Hosts: list("host"), Secrets: list("secret"), Backends: list("backend"), Namespaces: list("namespace"),
		TLS: strings.Join(list("tls"), ", "), Class: strings.Join(list("class"), ", "), Issuers: list("issuer"),
		Redirects: slices.Equal(list("redirect"), []string{"true"}),
	}
}

func read(value any, note func(what string, values ...any)) {
	if list, ok := value.([]any); ok {
		for _, item := range list {
			read(item, note)
		}
	}
	object, _ := value.(map[string]any)
	for key, value := range object {
		part, _ := value.(map[string]any)
		port, _ := part["port"].(map[string]any)
		switch key {
		case "hosts", "hostnames", "sniHosts", "dnsNames":
			note("host", value.([]any)...)
		case "host", "hostname":
			note("host", value)
		case "secretName":
			note("secret", value)
		case "issuerRef":
			note("issuer", part["name"])
		case "destination": // of Istio
			note("backend", fmt.Sprint(part["host"], ":", port["number"]))
			continue
		case "service": // of an Ingress
			note("backend", fmt.Sprint(part["name"], ":", port["number"]))
		case "backendRefs": // of Gateway API
			for _, item := range value.([]any) {
				ref := item.(map[string]any)
				note("backend", fmt.Sprint(ref["name"], ":", ref["port"]))
			}
		case "mode", "nginx.ingress.kubernetes.io/backend-protocol":
			note("tls", value)
		case "istio", "gatewayClassName", "ingressClassName":
			note("class", value)
		case "httpsRedirect", "nginx.ingress.kubernetes.io/force-ssl-redirect":
			note("redirect", fmt.Sprint(value) == "true")
		case "requestRedirect":
			note("redirect", part["scheme"] == "https")
		}
		read(value, note)
	}
}

func copied(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../gitops")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// edited replaces all occurrences of a text in a file.
func edited(t *testing.T, dir, file, old, replacement string) {
	t.Helper()
	edit(t, dir, file, regexp.QuoteMeta(old), replacement)
}

func built(t *testing.T, dir string) resmap.ResMap {
	t.Helper()
	objects, err := kustomize.Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func fields(t *testing.T, text string) (object map[string]any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// ofKind returns the objects of the kind of T, and refuses fields that the kind does not have.
func ofKind[T any](t *testing.T, objects resmap.ResMap) []T {
	t.Helper()
	var found []T
	for _, object := range objects.Resources() {
		if !strings.HasSuffix(fmt.Sprintf("%T", *new(T)), "."+object.GetKind()) {
			continue
		}
		var typed T
		if err := yaml.UnmarshalStrict([]byte(object.MustYaml()), &typed); err != nil {
			t.Fatal(err)
		}
		found = append(found, typed)
	}
	return found
}
