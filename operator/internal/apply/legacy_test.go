package apply

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

func setBy(manager string, operation metav1.ManagedFieldsOperationType, subresource, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, Subresource: subresource, APIVersion: "apps/v1",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

func TestWhichFieldsAreMoved(t *testing.T) {
	const update, apply = metav1.ManagedFieldsOperationUpdate, metav1.ManagedFieldsOperationApply
	const a, b, both = `{"f:spec":{"f:a":{}}}`, `{"f:spec":{"f:b":{}}}`, `{"f:spec":{"f:a":{},"f:b":{}}}`
	type entries = []metav1.ManagedFieldsEntry
	tests := map[string]struct {
		managed, want entries
	}{
		"those that a legacy manager has updated": {
			managed: entries{setBy("manager", update, "", a), setBy("kubectl-edit", update, "", b)},
			want:    entries{setBy("memcached-operator", apply, "", a), setBy("kubectl-edit", update, "", b)},
		},
		"those of two legacy managers become one": {
			managed: entries{setBy("manager", update, "", a), setBy("operator", update, "", b)},
			want:    entries{setBy("memcached-operator", apply, "", both)},
		},
		"not those of a subresource":               {managed: entries{setBy("manager", update, "status", a)}},
		"not those that it has applied":            {managed: entries{setBy("manager", apply, "", a)}},
		"not those of one whose name begins alike": {managed: entries{setBy("manager-of-others", update, "", a)}},
		"none if no manager has set any":           {},
		"none where we have applied before": {
			managed: entries{setBy("manager", update, "", a), setBy("memcached-operator", apply, "", b)},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := moveFields(tc.managed, sets.New("manager", "operator"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("managed fields (-want +got):\n%s", diff)
			}
		})
	}
}

// patched is a client that keeps the patch it is given. It can do nothing else.
type patched struct {
	Client
	content string
	options client.PatchOptions
}

func (p *patched) Patch(
	_ context.Context, object client.Object, patch client.Patch, options ...client.PatchOption,
) error {
	content, err := patch.Data(object)
	p.content = string(content)
	p.options.ApplyOptions(options)
	return err
}

// TestFieldsAreMovedByOnePatch: the patch can't undo writes of other clients in the meantime, and inherit reports that
// the patch was made.
func TestFieldsAreMovedByOnePatch(t *testing.T) {
	live := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Name: "cache", Namespace: "shop", ResourceVersion: "7", Annotations: map[string]string{"unowned": "stays"},
		ManagedFields: []metav1.ManagedFieldsEntry{
			setBy("manager", metav1.ManagedFieldsOperationUpdate, "", `{"f:spec":{"f:replicas":{}}}`),
		},
	}}
	live.Spec.Selector = metav1.SetAsLabelSelector(names.Selector("cache"))
	before, writer := live.DeepCopy(), &patched{}
	syncer := &Syncer{client: writer, legacy: sets.New("manager")}

	inherited, err := syncer.inherit(t.Context(), live, stamped(t, planned(t, nil)))
	if err != nil {
		t.Fatal(err)
	}

	const want = `{"metadata":{
		"annotations":{"cache.example.com/applied-hash":"inherited"},
		"managedFields":[{"apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}},
			"manager":"memcached-operator","operation":"Apply"}],
		"resourceVersion":"7"}}`
	if diff := cmp.Diff(decoded(t, want), decoded(t, writer.content)); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
	if writer.options.FieldManager != names.FieldOwner {
		t.Errorf("patched as %q, want %q", writer.options.FieldManager, names.FieldOwner)
	}
	if diff := cmp.Diff(before, live); diff != "" {
		t.Errorf("what was read must stay as it is (-before +after):\n%s", diff)
	}
	if again, err := syncer.inherit(t.Context(), inherited, stamped(t, planned(t, nil))); again != inherited || err != nil {
		t.Errorf("the second time, it is %v (%v), want the same object", again, err)
	}
}

// place is a reader that returns the same object for every key.
type place struct {
	client.Reader
	holds *appsv1.Deployment
}

func (p place) Get(_ context.Context, _ client.ObjectKey, found client.Object, _ ...client.GetOption) error {
	p.holds.DeepCopyInto(found.(*appsv1.Deployment))
	return nil
}

func TestNoFieldsAreMovedInAReplacedObject(t *testing.T) {
	fields := []metav1.ManagedFieldsEntry{setBy("manager", metav1.ManagedFieldsOperationUpdate, "", `{}`)}
	selector := appsv1.DeploymentSpec{Selector: metav1.SetAsLabelSelector(names.Selector("cache"))}
	cached := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "cache", UID: "same"}, Spec: selector}
	for uid, want := range map[types.UID]bool{"same": true, "other": false} {
		writer := &patched{}
		there := place{holds: &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "cache", UID: uid, ResourceVersion: "7", ManagedFields: fields}, Spec: selector,
		}}
		syncer := &Syncer{client: writer, live: there, legacy: sets.New("manager")}
		inherited, err := syncer.inherit(t.Context(), cached, stamped(t, planned(t, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if got := writer.content != ""; got != want || inherited.GetUID() != "same" {
			t.Errorf("the object with the uid %s: patched %v, want %v; went on with %s", uid, got, want, inherited.GetUID())
		}
	}
}

func decoded(t *testing.T, content string) map[string]any {
	t.Helper()
	fields := map[string]any{}
	if err := json.Unmarshal([]byte(content), &fields); err != nil {
		t.Fatal(err, content)
	}
	return fields
}
