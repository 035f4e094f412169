package overlays

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

// TestTheSelectorOfTheDocsKeepsTheCRD: the command in docs/install.md deletes all objects of an overlay except the
// CRDs, because their deletion would delete every cache.
func TestTheSelectorOfTheDocsKeepsTheCRD(t *testing.T) {
	text := page.Find(t, page.Read(t, root+"/docs/install.md"), `kubectl delete -f dist/install.yaml -l '(.+)'`)
	selector, err := labels.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, overlay := range all(t) {
		objects, err := kustomize.Objects(filepath.Join(root, overlay))
		if err != nil {
			t.Fatal(err)
		}
		kept := slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool {
			return selector.Matches(labels.Set(o.GetLabels()))
		})
		var kinds []string
		for _, object := range kept {
			kinds = append(kinds, object.GetKind())
		}
		if diff := cmp.Diff([]string{"CustomResourceDefinition", "CustomResourceDefinition"}, kinds); diff != "" {
			t.Errorf("%s: kept (-want +got):\n%s", overlay, diff)
		}
	}
}
