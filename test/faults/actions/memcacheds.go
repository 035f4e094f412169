package actions

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// scaling is a change to the size through the scale subresource of the Memcached, or of its Deployment.
type scaling struct {
	Kind  string          `json:"kind"`
	Sizes []int32         `json:"sizes"` // one after the other
	Pause metav1.Duration `json:"pause"`
}

// overwriting is a write to fields that only the operator should write.
type overwriting struct {
	Patch json.RawMessage `json:"patch"`
	Times int             `json:"times"`
	Pause metav1.Duration `json:"pause"`
}

func memcacheds() []Action {
	return []Action{
		{plan.Action{Name: "an autoscaler scales", Weight: 2, Draw: drawScaling}, given(autoscale)},
		{plan.Action{Name: "a third party overwrites the status", Weight: 2, Draw: func(r *rand.Rand) any {
			return drawOverwriting(r, statuses)
		}}, overwrite(overwriteStatus)},
		{plan.Action{Name: "a third party changes the metadata of a Memcached", Weight: 1, Draw: func(r *rand.Rand) any {
			return drawOverwriting(r, metadata)
		}}, overwrite(overwriteMetadata)},
		{plan.Action{Name: "a finalizer holds a Memcached", Weight: 1, Draw: func(r *rand.Rand) any {
			return drawLasting(r)
		}}, given(holdMemcached)},
		{plan.Action{Name: "a third party takes the names of a Memcached's objects", Weight: 1, Draw: func(r *rand.Rand) any {
			return recreation{drawKind(r), r.IntN(2) == 0, one(r, "", "right", "wrong")}
		}}, given(takeNames)},
	}
}

func drawScaling(r *rand.Rand) any {
	with := scaling{Kind: one(r, "Memcached", "Memcached", "Deployment"), Pause: drawPause(r)}
	for range 1 + r.IntN(4) {
		with.Sizes = append(with.Sizes, r.Int32N(6))
	}
	return with
}

func drawPause(r *rand.Rand) metav1.Duration {
	return metav1.Duration{Duration: time.Duration(20+r.IntN(400)) * time.Millisecond}
}

func autoscale(ctx context.Context, w *world.World, step plan.Step, with scaling) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(memcachedKind)
	if with.Kind != "Memcached" {
		object.SetGroupVersionKind(kinds[with.Kind])
	}
	object.SetNamespace(w.Namespace)
	object.SetName(step.Cache)
	next := 0
	inParallel(ctx, w, func(ctx context.Context) error {
		return repeat(ctx, len(with.Sizes), with.Pause.Duration, func(ctx context.Context) error {
			size := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: with.Sizes[next]}}
			next++
			return intrude(ctx, func(ctx context.Context) error {
				return w.Client.SubResource("scale").Update(ctx, object.DeepCopy(), client.WithSubResourceBody(size), thirdParty)
			})
		})
	})
	return nil
}

var memcachedKind = schema.GroupVersionKind{Group: "cache.example.com", Version: "v1", Kind: "Memcached"}

// statuses are merge patches of a status.
var statuses = []string{
	`{"status":{"conditions":[]}}`,
	`{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Ready","message":"","observedGeneration":1,` +
		`"lastTransitionTime":"2020-01-01T00:00:00Z"}]}}`,
	`{"status":{"conditions":[{"type":"Stalled","status":"True","reason":"Other","message":"no",` +
		`"lastTransitionTime":"2020-01-01T00:00:00Z"}]}}`,
	`{"status":{"nodes":["none"],"replicas":99,"readyReplicas":99}}`,
	`{"status":{"templateInputs":null}}`,
	`{"status":{"templateInputs":"{}"}}`,
	`{"status":{"templateInputs":"no JSON","image":"registry.example.com/other:1"}}`,
	`{"status":{"observedGeneration":999}}`,
	`{"status":{"observedGeneration":0}}`,
	`{"status":{"autoscaling":null}}`,
	`{"status":{"autoscaling":{"memory":{"current":"2Ti","refused":"1Mi","changedAt":"2020-01-01T00:00:00Z"}}}}`,
	`{"status":{"endpoint":"elsewhere.example.com:11211","selector":"app=other"}}`,
	`{"status":null}`,
}

// metadata are merge patches of the metadata of a Memcached.
var metadata = []string{
	`{"metadata":{"labels":{"app":"other","memcached_cr":"other"}}}`,
	`{"metadata":{"labels":null}}`,
	`{"metadata":{"annotations":{"example.com/third-party":"true","cache.example.com/adopt-by":"other"}}}`,
	`{"metadata":{"annotations":{"cache.example.com/update-requested":"now"}}}`,
	`{"metadata":{"annotations":null}}`,
	`{"metadata":{"managedFields":[{}]}}`,
}

// drawOverwriting draws one write more often than several writes.
func drawOverwriting(r *rand.Rand, patches []string) overwriting {
	times := max(1, r.IntN(12)-5)
	return overwriting{json.RawMessage(one(r, patches...)), times, drawPause(r)}
}

func overwriteStatus(ctx context.Context, w *world.World, mc *cachev1.Memcached, patch client.Patch) error {
	return w.Client.Status().Patch(ctx, mc, patch, thirdParty)
}

func overwriteMetadata(ctx context.Context, w *world.World, mc *cachev1.Memcached, patch client.Patch) error {
	return w.Client.Patch(ctx, mc, patch, thirdParty)
}

func overwrite(write func(context.Context, *world.World, *cachev1.Memcached, client.Patch) error) do {
	return given(func(ctx context.Context, w *world.World, step plan.Step, with overwriting) error {
		return often(ctx, w, with.Times, with.Pause.Duration, func(ctx context.Context) error {
			return intrude(ctx, func(ctx context.Context) error {
				mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: step.Cache}}
				return write(ctx, w, mc, client.RawPatch(mergePatch, with.Patch))
			})
		})
	})
}

// holdMemcached adds a finalizer to a Memcached, which another step may delete.
func holdMemcached(ctx context.Context, w *world.World, step plan.Step, with lasting) error {
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: step.Cache}}
	mc.SetGroupVersionKind(memcachedKind)
	err := intrude(ctx, func(ctx context.Context) error {
		patch := []byte(`{"metadata":{"finalizers":["` + finalizer + `"]}}`)
		return w.Client.Patch(ctx, mc.DeepCopy(), client.RawPatch(mergePatch, patch), thirdParty)
	})
	endAfter(ctx, w, with.For.Duration, func(ctx context.Context) error { return releaseHeld(ctx, w, mc) })
	return err
}

// takeNames deletes a Memcached, creates an object with the name of one of its managed objects, and then creates the
// Memcached again.
func takeNames(ctx context.Context, w *world.World, step plan.Step, with recreation) error {
	mc, object := &cachev1.Memcached{}, &unstructured.Unstructured{}
	err := intrude(world.WithoutEffect(ctx), func(ctx context.Context) (err error) {
		if mc, err = w.Memcached(ctx, step.Cache); err != nil {
			return err
		}
		if object, err = target(ctx, w, with.Kind, step.Cache); err != nil {
			return err
		}
		return w.Client.Delete(ctx, mc, client.PropagationPolicy(metav1.DeletePropagationBackground))
	})
	if err != nil || mc.UID == "" || object.GetUID() == "" {
		return err
	}
	err = intrude(world.WithoutEffect(ctx), func(ctx context.Context) error { return w.Client.Delete(ctx, object) })
	if err != nil {
		return err
	}
	if err := occupy(ctx, w, lookalike(object, with.AsIs, adopters(step.Cache)[with.Allows])); err != nil {
		return err
	}
	again := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: mc.Namespace, Name: mc.Name}, Spec: mc.Spec}
	return intrude(world.WithoutEffect(ctx), func(ctx context.Context) error {
		return w.Client.Create(ctx, again.DeepCopy(), thirdParty)
	})
}
