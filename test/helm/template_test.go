package helm

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
	"github.com/example-inc/memcached-operator/scripts/release/chart"
)

// TestTheChartRendersWhatTheOverlaysBuild renders the chart with its default values, and with each value that does the
// same as an overlay or a component, and compares the objects.
func TestTheChartRendersWhatTheOverlaysBuild(t *testing.T) {
	tests := map[string]struct {
		values     string
		overlay    string
		components []string
	}{
		"the defaults are several architectures": {overlay: "multiarch"},
		"amd64 alone":                            {values: "architectures: [amd64]", overlay: "amd64"},
		"arm64 alone":                            {values: "architectures: [arm64]", overlay: "arm64"},
		"ppc64le alone":                          {values: "architectures: [ppc64le]", overlay: "ppc64le"},
		"s390x alone":                            {values: "architectures: [s390x]", overlay: "s390x"},
		"two replicas": {
			values: "replicas: 2", overlay: "multiarch", components: []string{"two-replicas"},
		},
		"the operator's own namespace": {
			values: "watchNamespaces: [" + namespace + "]", overlay: "multiarch", components: []string{"namespaced"},
		},
		"a private registry": {
			values: "imagePullSecrets: [{name: registry}]", overlay: "multiarch", components: []string{"pull-secret"},
		},
		"the Prometheus Operator": {
			values: "monitoring: {enabled: true}", overlay: "multiarch", components: []string{"monitoring"},
		},
		"with bindings": {values: "rbac: {binding: true}", overlay: "multiarch", components: []string{"binding"}},
		"without slots": {values: "rbac: {slots: false}", overlay: "multiarch", components: []string{"without-slots"}},
		"nearly all of it, on one architecture": {
			values: "{architectures: [s390x], replicas: 2, watchNamespaces: [" + namespace + "], " +
				"imagePullSecrets: [{name: registry}]}",
			overlay: "s390x", components: []string{"two-replicas", "namespaced", "pull-secret"},
		},
		"all that goes together, on one architecture": {
			values: "{architectures: [s390x], replicas: 2, " +
				"imagePullSecrets: [{name: registry}], monitoring: {enabled: true}, rbac: {slots: false}}",
			overlay: "s390x", components: []string{"two-replicas", "pull-secret", "monitoring", "without-slots"},
		},
	}
	loaded := load(t, pack(t, chart.Options{Version: version}))
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := buildOverlay(t, tc.overlay, tc.components...)
			// Helm or an administrator creates the namespace, because a release can't contain the namespace in which it is
			// stored.
			delete(want, "Namespace//"+namespace)
			got := mustTemplate(t, loaded, tc.values)
			for _, object := range got {
				dropHelmsOwn(t, object)
			}
			if diff := cmp.Diff(want, got, inAnyOrder); diff != "" {
				t.Errorf("(-overlay +chart):\n%s", diff)
			}
		})
	}
}

func TestNothingIsLeftInTheNamespaceOfTheOverlays(t *testing.T) {
	all := "{replicas: 2, watchNamespaces: [team-a], monitoring: {enabled: true}}"
	for name, values := range map[string]string{"the defaults": "", "all that is optional": all} {
		t.Run(name, func(t *testing.T) {
			rendered, err := templateIn(t, "another", load(t, pack(t, chart.Options{Version: version})), values)
			if err != nil {
				t.Fatal(err)
			}
			for id, object := range rendered {
				text, err := json.Marshal(object)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(text), namespace) {
					t.Errorf("%s names %s:\n%.2000s", id, namespace, text)
				}
			}
		})
	}
}

// inAnyOrder compares the variables of containers in any order, because a patch moves the changed ones to the front. No
// variable refers to another one, so the order has no meaning.
var inAnyOrder = cmp.FilterPath(func(path cmp.Path) bool {
	index, ok := path.Last().(cmp.TypeAssertion)
	entry, below := path.Index(-2).(cmp.MapIndex)
	return ok && below && index.Type() == reflect.TypeFor[[]any]() && entry.Key().String() == "env"
}, cmp.Transformer("byName", func(list []any) map[string]any {
	byName := map[string]any{"": len(list)} // finds names that exist twice
	for _, entry := range list {
		if named, ok := entry.(map[string]any); ok {
			byName[fmt.Sprint(named["name"])] = named
		}
	}
	return byName
}))

// buildOverlay builds a kustomization with the overlay and the components, and returns its objects.
func buildOverlay(t *testing.T, overlay string, components ...string) objects {
	t.Helper()
	dir := tree.Copy(t, root, "operator/config", "overlays")
	var paths []string
	for _, component := range components {
		paths = append(paths, "../overlays/components/"+component)
	}
	text := fmt.Sprintf("resources: [../overlays/%s]\ncomponents: [%s]\n", overlay, strings.Join(paths, ", "))
	mine := filepath.Join(dir, "mine")
	tree.Write(t, mine, map[string]string{"kustomization.yaml": text})
	manifest, err := kustomize.Manifest(mine)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, manifest)
}

// dropHelmsOwn removes the labels and annotations that only an object of a Helm release has, and fails the test if one
// is missing.
func dropHelmsOwn(t *testing.T, content map[string]any) {
	t.Helper()
	object := &unstructured.Unstructured{Object: content}
	want := map[string]string{
		"helm.sh/chart":                chart.Name + "-" + version,
		"app.kubernetes.io/instance":   chart.Name,
		"app.kubernetes.io/managed-by": "Helm",
		"app.kubernetes.io/version":    version,
	}
	labels, found := object.GetLabels(), map[string]string{}
	for label := range want {
		if value, ok := labels[label]; ok {
			found[label] = value
		}
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("Helm's labels of %s %s (-want +got):\n%s", object.GetKind(), object.GetName(), diff)
	}
	maps.DeleteFunc(labels, func(label, _ string) bool { return want[label] != "" })
	object.SetLabels(labels)
	if len(labels) == 0 {
		unstructured.RemoveNestedField(content, "metadata", "labels")
	}
	if object.GetKind() == "CustomResourceDefinition" {
		if got := object.GetAnnotations()["helm.sh/resource-policy"]; got != "keep" {
			t.Errorf("%s has the resource policy %q: Helm would delete it with the release", object.GetName(), got)
		}
		unstructured.RemoveNestedField(content, "metadata", "annotations", "helm.sh/resource-policy")
	}
}
