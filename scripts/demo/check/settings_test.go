package check

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/demo/argo"
	"github.com/example-inc/memcached-operator/scripts/demo/demotest"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

const memcachedHealth = "resource.customizations.health.cache.example.com_Memcached"

// inArgoCD is a subject with an Argo CD in the namespace argocd.
func inArgoCD(t *testing.T, way target.Way) *Subject {
	t.Helper()
	defineArgoCD(t)
	namespace(t, "argocd")
	s := subject(t, way)
	s.ArgoCDNamespace = "argocd"
	return s
}

func TestSettingsOfAnArgoCDByItsOwnManifests(t *testing.T) {
	s := inArgoCD(t, target.Direct)
	ours, err := s.render(target.SettingsFolder)
	if err != nil {
		t.Fatal(err)
	}
	all, _, _ := unstructured.NestedStringMap(ours[0].Object, "data")
	counted := func(unset int) string { return fmt.Sprintf("%d of our %d keys", unset, len(all)) }
	other := demotest.Object("argoproj.io/v1alpha1", "Application", "argocd", "other")
	tests := map[string]struct {
		live    map[string]string
		version string
		other   bool
		status  Status
		words   []string
	}{
		"that has none of them":               {nil, "3.2.6", false, Passed, []string{counted(len(all))}},
		"that has all of them":                {all, "3.2.6", false, Passed, []string{counted(0)}},
		"that has one by the same value":      {map[string]string{memcachedHealth: all[memcachedHealth]}, "3.2.6", false, Passed, []string{counted(len(all) - 1)}},
		"that has one by another value":       {map[string]string{memcachedHealth: "return {}"}, "3.2.6", false, Failed, []string{"ConfigMap argocd-cm", memcachedHealth, "gitops/bootstrap/argocd/existing", "edit configmap argocd-cm"}},
		"that tracks others by label":         {nil, "2.14.21", true, Warning, []string{"application.resourceTrackingMethod", "1 other Applications"}},
		"that would track others by label":    {nil, "", true, Warning, []string{"1 other Applications"}},
		"that tracks nothing yet":             {nil, "2.14.21", false, Passed, nil},
		"that tracks by annotation by itself": {nil, "3.2.6", true, Passed, nil},
		"that was told to track by label":     {map[string]string{trackingKey: "label"}, "2.14.21", true, Failed, []string{trackingKey}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			create(t, demotest.ArgoCDSettings("argocd", tc.live))
			if tc.other {
				create(t, other.DeepCopy())
			}
			s.ArgoCDVersion = tc.version
			expect(t, settings(t.Context(), s), tc.status, tc.words...)
			if len(s.Settings) != 1 || s.Settings[0].GetNamespace() != "argocd" {
				t.Errorf("to be applied: %v", s.Settings)
			}
		})
	}
}

func TestSettingsOfAnArgoCDByItsOperator(t *testing.T) {
	s := inArgoCD(t, target.Direct)
	define(t, "argocds.argoproj.io", "v1beta1", "ArgoCD", true)
	create(t, demotest.ArgoCDSettings("argocd", nil))
	ours, err := s.render(target.InstanceFolder)
	if err != nil {
		t.Fatal(err)
	}
	var all []any
	for _, object := range ours {
		if object.GetKind() == "ArgoCD" {
			all, _, _ = unstructured.NestedSlice(object.Object, "spec", "resourceHealthChecks")
		}
	}
	theirs := map[string]any{"group": "example.com", "kind": "Other", "check": "return {}"}
	tests := map[string]struct {
		spec    map[string]any
		status  Status
		words   []string
		applied bool
	}{
		"that has none of them": {map[string]any{}, Passed, []string{"ArgoCD gitops is to be given health checks"}, true},
		"that has all of them among others": {map[string]any{"resourceHealthChecks": append([]any{theirs}, all...)}, Passed,
			[]string{"ArgoCD gitops has all of them"}, false},
		"that has others": {map[string]any{"resourceHealthChecks": []any{theirs}}, Failed,
			[]string{"ArgoCD gitops", "resourceHealthChecks", "kubectl -n argocd edit argocd gitops"}, false},
		"that tracks by label": {map[string]any{"resourceHealthChecks": all, "resourceTrackingMethod": "label"}, Failed,
			[]string{"resourceTrackingMethod"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s.Settings = nil
			instance := demotest.Object("argoproj.io/v1beta1", "ArgoCD", "argocd", "gitops")
			instance.Object["spec"] = tc.spec
			create(t, instance)
			expect(t, settings(t.Context(), s), tc.status, tc.words...)
			if applied := len(s.Settings) > 0; applied != tc.applied {
				t.Fatalf("something is to be applied: %t", applied)
			}
			if !tc.applied {
				return
			}
			// What the check found to be possible is so, and is enough the next time.
			if err := argo.Apply(t.Context(), server.Client, s.Settings); err != nil {
				t.Fatal(err)
			}
			expect(t, settings(t.Context(), s), Passed, "has all of them")
			spec, _, _ := unstructured.NestedMap(s.Settings[0].Object, "spec")
			want := map[string]any{"resourceHealthChecks": all, "resourceTrackingMethod": "annotation"}
			if diff := cmp.Diff(want, spec); diff != "" {
				t.Errorf("applied (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheRootApplication(t *testing.T) {
	follows := func(repo, revision, path string) *unstructured.Unstructured {
		root := demotest.Object("argoproj.io/v1alpha1", "Application", "argocd", argo.Root)
		root.Object["spec"] = map[string]any{"source": map[string]any{
			"repoURL": repo, "targetRevision": revision, "path": path,
		}}
		return root
	}
	const ours = "https://git.example.org/x.git"
	const remove = "kubectl -n argocd delete application memcached-root"
	tests := map[string]struct {
		there  *unstructured.Unstructured
		status Status
		words  []string
	}{
		"is not there":             {nil, Passed, []string{"not there yet"}},
		"is that of this demo":     {follows(ours, target.Branch, "gitops/apps/overlays/direct"), Passed, []string{"goes on with that"}},
		"follows another":          {follows("https://git.example.org/prod.git", target.Branch, "gitops/apps/overlays/direct"), Failed, []string{"prod.git", remove}},
		"follows another branch":   {follows(ours, "main", "gitops/apps/overlays/direct"), Failed, []string{"at main", remove}},
		"is of another way":        {follows(ours, target.Branch, "gitops/apps/overlays/olm"), Failed, []string{"overlays/olm", remove}},
		"is somebody else's field": {fought(follows(ours, target.Branch, "gitops/apps/overlays/direct")), Failed, []string{"spec.project", remove}},
	}
	s := inArgoCD(t, target.Direct)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.there != nil {
				create(t, tc.there)
			}
			expect(t, application(t.Context(), s), tc.status, tc.words...)
		})
	}
}

// fought has a field that the demo sets to another value.
func fought(root *unstructured.Unstructured) *unstructured.Unstructured {
	_ = unstructured.SetNestedField(root.Object, "another", "spec", "project")
	return root
}

func TestARootApplicationThatIsBeingDeleted(t *testing.T) {
	s := inArgoCD(t, target.Direct)
	root := demotest.Object("argoproj.io/v1alpha1", "Application", "argocd", argo.Root)
	root.SetFinalizers([]string{"resources-finalizer.argocd.argoproj.io"})
	create(t, root)
	remove(t, root)
	expect(t, application(t.Context(), s), Failed, "being deleted", "wait until it is gone")
	letGo := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	if err := server.Client.Patch(t.Context(), root, letGo); err != nil {
		t.Fatal(err)
	}
}
