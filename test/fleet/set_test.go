// Package fleet tests gitops/fleet. With its build tag, it uses two real API servers and an Argo CD that manages both
// clusters. The examples of what gitops/fleet renders are in scripts/gitops/tree.
package fleet

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

const (
	repository = "../.."
	folder     = "gitops/fleet"
)

// TestAClusterWithoutALabel: a typing error in the labels of one Secret must not stop the updates of all clusters, so
// the selector must exclude such a cluster.
func TestAClusterWithoutALabel(t *testing.T) {
	set := shipped(t, "ApplicationSet", "memcached-fleet")
	generators, _, err := unstructured.NestedSlice(set.Object, "spec", "generators")
	if err != nil {
		t.Fatal(err)
	}
	clusters := generators[0].(map[string]any)["matrix"].(map[string]any)["generators"].([]any)[1].(map[string]any)
	selector, _, err := unstructured.NestedMap(clusters, "clusters", "selector")
	if err != nil {
		t.Fatal(err)
	}
	required := slices.Collect(maps.Keys(selector["matchLabels"].(map[string]any)))
	for _, expression := range selector["matchExpressions"].([]any) {
		required = append(required, expression.(map[string]any)["key"].(string))
	}
	for label := range (cluster{}).labels() {
		if !slices.Contains(required, label) {
			t.Errorf("the template uses the label %s, and the selector does not require it: %v", label, selector)
		}
	}
}

// TestEachRingHasAStep: Argo CD would never sync a cluster whose ring is in no step.
func TestEachRingHasAStep(t *testing.T) {
	set := shipped(t, "ApplicationSet", "memcached-fleet")
	steps, _, err := unstructured.NestedSlice(set.Object, "spec", "strategy", "rollingSync", "steps")
	if err != nil {
		t.Fatal(err)
	}
	var inOrder []string
	for _, step := range steps {
		for _, expression := range step.(map[string]any)["matchExpressions"].([]any) {
			values, _, _ := unstructured.NestedStringSlice(expression.(map[string]any), "values")
			inOrder = append(inOrder, values...)
		}
	}
	content := page.Read(t, filepath.Join(repository, folder, "rings.yaml"))
	var rings []struct{ Ring, Revision string }
	if err := yaml.UnmarshalStrict([]byte(content), &rings); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, ring := range rings {
		want = append(want, ring.Ring)
	}
	if diff := cmp.Diff(want, inOrder); diff != "" {
		t.Errorf("rings.yaml and the steps of fleet.yaml differ (-rings +steps):\n%s", diff)
	}
}

// TestTheSettingsReachTheFleet checks that each setting that users set in one file arrives in the objects of the fleet.
func TestTheSettingsReachTheFleet(t *testing.T) {
	dir := tree.Copy(t, repository, "gitops")
	err := values.Edit(dir, func(s *values.Settings) {
		s.RepoURL, s.Revision, s.ArgoCDNamespace = "https://git.example.com/team/caches.git", "trunk", "openshift-gitops"
	})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := kustomize.Objects(filepath.Join(dir, folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if object.GetNamespace() != "openshift-gitops" {
			t.Errorf("%s %s is in the namespace %q", object.GetKind(), object.GetName(), object.GetNamespace())
		}
		content, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), "from-settings") {
			t.Errorf("%s %s still has a placeholder instead of a setting:\n%s", object.GetKind(), object.GetName(), content)
		}
	}
}

// cluster is a cluster as a Secret of Argo CD describes it.
type cluster struct {
	name, server                 string
	ring, environment, arch, way string
}

func (c cluster) labels() map[string]string {
	return map[string]string{"ring": c.ring, "environment": c.environment, "arch": c.arch, "way": c.way}
}

// shipped returns an object of gitops/fleet, as users apply it.
func shipped(t *testing.T, kind, name string) *unstructured.Unstructured {
	t.Helper()
	objects, err := kustomize.Objects(filepath.Join(repository, folder))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == kind && o.GetName() == name
	})
	if i < 0 {
		t.Fatalf("%s has no %s %s", folder, kind, name)
	}
	return objects[i]
}
