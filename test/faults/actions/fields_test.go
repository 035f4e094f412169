package actions

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// deployment is one whose operator applied some fields.
func deployment() *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "a", "namespace": "n", "uid": "1"},
		"spec": map[string]any{
			"replicas": int64(2),
			"template": map[string]any{"spec": map[string]any{"containers": []any{
				map[string]any{"name": "sidecar", "image": "sidecar:1"},
				map[string]any{"name": "memcached", "image": "memcached:1", "args": []any{"-v", "-p"}},
			}}},
		},
	}}
	object.SetManagedFields([]metav1.ManagedFieldsEntry{
		applied("other", `{"f:spec":{"f:paused":{}}}`),
		applied("memcached-operator",
			`{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"memcached\"}":`+
				`{".":{},"f:name":{},"f:args":{},"f:image":{}}}}}}}`),
	})
	return object
}

func applied(manager, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(fields),
	}
}

// at returns a path to a field of the container.
func at(field string) fieldpath.Path {
	return fieldpath.MakePathOrDie("spec", "template", "spec", "containers", fieldpath.KeyByFields("name", "memcached"), field)
}

func TestFieldsOfTheOperatorAreFoundAndChanged(t *testing.T) {
	paths, err := ownedFields(deployment())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, path := range paths {
		got = append(got, path.String())
	}
	container := `.spec.template.spec.containers[name="memcached"]`
	want := []string{".spec.replicas", container + ".args", container + ".image", container + ".name"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("owned fields (-want +got):\n%s", diff)
	}
}

func TestOneFieldIsChangedOrRemoved(t *testing.T) {
	for name, tc := range map[string]struct {
		path fieldpath.Path
		how  func(any) any
		want map[string]any
	}{
		"a text": {at("image"), differing, map[string]any{
			"name": "memcached", "image": "memcached:1-other", "args": []any{"-v", "-p"},
		}},
		"a list":  {at("args"), differing, map[string]any{"name": "memcached", "image": "memcached:1", "args": []any{"-v"}}},
		"removed": {at("args"), nil, map[string]any{"name": "memcached", "image": "memcached:1"}},
		"of no container": {
			fieldpath.MakePathOrDie("spec", "template", "spec", "initContainers", fieldpath.KeyByFields("name", "a"), "args"),
			differing, map[string]any{"name": "memcached", "image": "memcached:1", "args": []any{"-v", "-p"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := deployment()
			changeAt(object.Object, tc.path, tc.how)
			containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			want := []any{map[string]any{"name": "sidecar", "image": "sidecar:1"}, tc.want}
			if diff := cmp.Diff(want, containers); diff != "" || err != nil {
				t.Errorf("containers: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestAnApplyHasNothingButTheField(t *testing.T) {
	want := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "a", "namespace": "n", "uid": "1"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{
			map[string]any{"name": "memcached", "image": "memcached:1"},
		}}}},
	}
	if diff := cmp.Diff(want, onlyField(deployment(), at("image")).Object); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
