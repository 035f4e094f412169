package apply

import (
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/arbitrary"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// FuzzNothingDiffersOnceItIsApplied: whatever a live object looks like, the comparison finds no difference after the
// rendered object has been applied over it. Otherwise the operator would write the object again and again.
func FuzzNothingDiffersOnceItIsApplied(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("memcached"))
	known := newSchemas(clientgoscheme.Scheme)
	defaults := plan.Defaults{Revisions: render.Revisions(), Image: "memcached:1", AgentImage: "agent:1", Platform: plan.Kubernetes}
	f.Fuzz(func(t *testing.T, data []byte) {
		filler := arbitrary.Filler(data)
		mc := arbitrary.Memcached(filler)
		deployment := &appsv1.Deployment{}
		filler.Fill(deployment)
		p, planned := decide(mc, plan.Current{Deployment: deployment, SecretsUsable: true}, defaults)
		if !planned {
			return
		}
		for _, object := range render.Objects(p.Plan, p.template, deployment) {
			live := client.Object(deployment)
			if object.GroupKind != observe.DeploymentKind.GroupKind() {
				live = observe.New(object.GroupKind)
				filler.Fill(live)
			}
			live.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
			nothingDiffersAfter(t, known, live, object)
		}
	})
}

func nothingDiffersAfter(t *testing.T, known schemas, live client.Object, object render.Object) {
	t.Helper()
	if err := stamp(object); err != nil {
		t.Fatal(err)
	}
	if _, err := known.differences(live, object); err != nil {
		return // No API server would store such a thing: a key of a list twice, for example.
	}
	applied := applyOver(t, known, live, object)
	if applied == nil {
		return
	}
	if fields, err := known.differences(applied, object); err != nil || !fields.Empty() {
		t.Errorf("%s differs after it was applied: %s %v", object.Kind, fields, err)
	}
}

// applyOver merges a configuration into an object as the API server does, and reads the answer; nil if the API server
// would not have stored the object.
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
	current, err := kind.FromUnstructured(there)
	if err != nil {
		return nil // No API server would store such a thing.
	}
	wanted, err := kind.FromUnstructured(asked)
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
	applied := observe.New(object.GroupKind)
	if err := json.Unmarshal(text, applied); err != nil {
		t.Fatal(err)
	}
	return applied
}
