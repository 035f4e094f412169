package apply

import (
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/example-inc/memcached-operator/operator/internal/arbitrary"
	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// FuzzNothingDiffersOnceItIsApplied: whatever a Deployment looks like, once what is rendered has been applied over it,
// the comparison finds it as it should be. Otherwise the operator would write for ever.
func FuzzNothingDiffersOnceItIsApplied(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("memcached"))
	known := newSchemas(clientgoscheme.Scheme)
	defaults := plan.Defaults{Revisions: render.Revisions(), Image: "memcached:1", Platform: plan.Kubernetes}
	f.Fuzz(func(t *testing.T, data []byte) {
		filler := arbitrary.Filler(data)
		mc := arbitrary.Memcached(filler)
		live := &appsv1.Deployment{}
		filler.Fill(live)
		live.TypeMeta = metav1.TypeMeta{}
		planned, err := plan.Compute(mc, live, defaults)
		if err != nil {
			return
		}
		for _, object := range render.Objects(planned) {
			if object.GroupKind != observe.DeploymentKind.GroupKind() {
				continue
			}
			if err := stamp(object); err != nil {
				t.Fatal(err)
			}
			changed, err := known.differences(live, object)
			if err != nil {
				return // No API server would store such a thing: a key of a list twice, for example.
			}
			drifts, err := drift.Explain(live, object.Configuration, changed)
			if err != nil || changed.Empty() != (len(drifts) == 0) {
				t.Errorf("%d drifts for the changes %s (%v)", len(drifts), changed, err)
			}
			if _, err := drift.Strays(live, object.Configuration, changed); err != nil {
				t.Error(err)
			}
			applied := applyOver(t, known, live, object)
			if changed, err := known.differences(applied, object); err != nil || !changed.Empty() {
				t.Errorf("differs after it was applied: %v %v", changed, err)
			}
		}
	})
}

// applyOver merges a configuration into an object as the API server does, and reads the answer.
func applyOver(t *testing.T, known schemas, live client.Object, object render.Object) client.Object {
	t.Helper()
	kind := known[object.GroupKind]
	asked, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object.Configuration)
	if err != nil {
		t.Fatal(err)
	}
	there, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		t.Fatal(err)
	}
	parser := typed.ParseableType{TypeRef: kind.TypeRef(), Schema: kind.Schema()}
	current, err := parser.FromUnstructured(there)
	if err != nil {
		t.Skip("no API server would store such a thing")
	}
	wanted, err := parser.FromUnstructured(asked)
	if err != nil {
		t.Fatalf("what is rendered does not fit the schema: %v", err)
	}
	merged, err := current.Merge(wanted)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(merged.AsValue().Unstructured())
	if err != nil {
		t.Fatal(err)
	}
	applied := &appsv1.Deployment{}
	if err := json.Unmarshal(text, applied); err != nil {
		t.Fatal(err)
	}
	return applied
}
