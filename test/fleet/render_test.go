// Package fleet shows what gitops/fleet makes of clusters: rendered for three examples, and with a tag on two real API
// servers and an Argo CD that has both.
package fleet

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

var update = flag.Bool("update", false, "write the golden files again")

const (
	repository = "../.."
	folder     = "gitops/fleet"
)

// examples are a cluster of each install method.
var examples = []cluster{
	{
		name: "laptop", server: "https://kubernetes.default.svc", ring: "1", environment: "dev", arch: "amd64", way: "direct",
		revision: "fleet-2",
	},
	{
		name: "frankfurt", server: "https://frankfurt.example.com:6443", ring: "2", environment: "prod", arch: "arm64",
		way: "olm", revision: "fleet-1",
	},
	{
		name: "mainframe", server: "https://mainframe.example.com:6443", ring: "3", environment: "prod", arch: "multiarch",
		way: "openshift", revision: "fleet-1",
	},
	{
		name: "edge", server: "https://edge.example.com:6443", ring: "3", environment: "prod", arch: "arm64", way: "olm-v1",
		revision: "fleet-1",
	},
}

// TestTheRootOfEachCluster: the root Application, those that it makes, and where operator and caches may run. The file of
// the first cluster has them whole, those of the others what may differ.
func TestTheRootOfEachCluster(t *testing.T) {
	tree := newTree(t)
	set := tree.set(t)
	for _, c := range examples {
		t.Run(c.name, func(t *testing.T) {
			root, err := c.application(set)
			if err != nil {
				t.Fatal(err)
			}
			applications, err := tree.build(root)
			if err != nil {
				t.Fatal(err)
			}
			objects := append([]*unstructured.Unstructured{root}, applications...)
			if c.name != examples[0].name {
				shorten(objects)
			}
			for _, application := range applications {
				if strings.HasPrefix(application.GetName(), "memcached-operator-") {
					objects = append(objects, tree.placed(t, application)...)
				}
			}
			compare(t, c.name+".yaml", objects)
		})
	}
}

// shorten leaves out of Applications what is the same for each cluster, and the patches of the root: the Applications that
// it makes have their effect.
func shorten(applications []*unstructured.Unstructured) {
	for _, application := range applications {
		for _, fields := range [][]string{
			{"metadata", "annotations"}, {"metadata", "finalizers"}, {"metadata", "namespace"}, {"spec", "ignoreDifferences"},
			{"spec", "syncPolicy"}, {"spec", "source", "repoURL"},
		} {
			unstructured.RemoveNestedField(application.Object, fields...)
		}
	}
	unstructured.RemoveNestedField(applications[0].Object, "spec", "source", "kustomize")
}

// placed are the fields of the operator's objects that name architectures.
func (tree tree) placed(t *testing.T, operator *unstructured.Unstructured) (placed []*unstructured.Unstructured) {
	t.Helper()
	objects, err := tree.build(operator)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string][]string{
		"Subscription": {"spec", "config"}, "Deployment": {"spec", "template", "spec", "affinity"},
	}
	for _, object := range objects {
		path, names := fields[object.GetKind()]
		if !names {
			continue
		}
		value, _, err := unstructured.NestedMap(object.Object, path...)
		if err != nil {
			t.Fatal(err)
		}
		if env, has := value["env"].([]any); has {
			value["env"] = slices.DeleteFunc(env, func(variable any) bool { // images
				return strings.HasPrefix(variable.(map[string]any)["name"].(string), "RELATED_IMAGE_")
			})
		}
		short := &unstructured.Unstructured{Object: map[string]any{"kind": object.GetKind()}}
		short.SetName(object.GetName())
		if err := unstructured.SetNestedMap(short.Object, value, path...); err != nil {
			t.Fatal(err)
		}
		placed = append(placed, short)
	}
	return placed
}

func compare(t *testing.T, name string, objects []*unstructured.Unstructured) {
	t.Helper()
	var got strings.Builder
	for _, object := range objects {
		content, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "---\n%s", content)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("read the difference, then run go test ./test/fleet -update (-golden +got):\n%s", diff)
	}
}

// TestAClusterWithoutALabel: a typing error in one Secret must not end the updates of all clusters, so the selector
// leaves such a cluster out.
func TestAClusterWithoutALabel(t *testing.T) {
	set := newTree(t).set(t)
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
	for label := range examples[0].labels() {
		if !slices.Contains(required, label) {
			t.Errorf("the template uses the label %s, and the selector does not require it: %v", label, selector)
		}
	}
}

// TestEachRingHasAStep: Argo CD would never sync a cluster whose ring is in no step.
func TestEachRingHasAStep(t *testing.T) {
	tree := newTree(t)
	steps, _, err := unstructured.NestedSlice(tree.set(t).Object, "spec", "strategy", "rollingSync", "steps")
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
	content, err := os.ReadFile(filepath.Join(string(tree), folder, "rings.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var rings []struct{ Ring, Revision string }
	if err := yaml.UnmarshalStrict(content, &rings); err != nil {
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

// TestTheSettingsReachTheFleet: all that users set in one file.
func TestTheSettingsReachTheFleet(t *testing.T) {
	tree := newTree(t)
	err := values.Edit(string(tree), func(s *values.Settings) {
		s.RepoURL, s.Revision, s.ArgoCDNamespace = "https://git.example.com/team/caches.git", "trunk", "openshift-gitops"
	})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := kustomize.Objects(filepath.Join(string(tree), folder))
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
			t.Errorf("%s %s does not have a setting:\n%s", object.GetKind(), object.GetName(), content)
		}
	}
}
