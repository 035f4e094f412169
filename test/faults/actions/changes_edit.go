package actions

import (
	"context"
	"math/rand/v2"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/schema"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// memcached returns an unstructured Memcached, because a user may write fields that the Go type does not have.
func memcached(w *world.World, name string) *unstructured.Unstructured {
	mc := &unstructured.Unstructured{}
	mc.SetGroupVersionKind(memcachedKind)
	mc.SetNamespace(w.Namespace)
	mc.SetName(name)
	return mc
}

// editSpec replaces the spec of a Memcached by the result of change. If another client changes the Memcached in the
// meantime, editSpec reads it again, and repeats the change. The API server may refuse the change.
func editSpec(ctx context.Context, w *world.World, name string, change func(spec map[string]any) map[string]any) error {
	_, err := trySpec(ctx, w, name, change)
	return err
}

// trySpec does the same as editSpec, and reports whether the API server refused the change as invalid.
func trySpec(
	ctx context.Context, w *world.World, name string, change func(spec map[string]any) map[string]any,
) (refused bool, err error) {
	err = attempt(ctx, func(ctx context.Context) error {
		mc := memcached(w, name)
		if err := w.Client.Get(ctx, client.ObjectKeyFromObject(mc), mc); err != nil {
			return err
		}
		before, _, _ := unstructured.NestedMap(mc.Object, "spec")
		mc.Object["spec"] = change(before)
		if err := w.Client.Update(ctx, mc); err != nil {
			return err
		}
		if after, _, _ := unstructured.NestedMap(mc.Object, "spec"); !equality.Semantic.DeepEqual(before, after) {
			w.Remember(name, before)
		}
		return nil
	})
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return true, nil
	}
	return false, err
}

// mostPods is the largest size of a cache. It is so small that the Nodes have room for all caches.
const mostPods = 5

type size struct {
	Size int32 `json:"size"`
}

func drawSize(r *rand.Rand) any { return size{r.Int32N(mostPods + 1)} }

func scale(spec map[string]any, to size) map[string]any {
	return schema.Merge(spec, map[string]any{"size": int64(to.Size)})
}

// requestUpdate sets a new value of the annotation update-requested, or removes this annotation.
func requestUpdate(ctx context.Context, w *world.World, step plan.Step, value numbered) error {
	return attempt(ctx, func(ctx context.Context) error {
		mc := memcached(w, step.Cache)
		if err := w.Client.Get(ctx, client.ObjectKeyFromObject(mc), mc); err != nil {
			return err
		}
		annotations := mc.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[cachev1.AnnotationUpdateRequested] = strconv.Itoa(value.Number)
		if value.Number%5 == 0 {
			delete(annotations, cachev1.AnnotationUpdateRequested)
		}
		mc.SetAnnotations(annotations)
		return w.Client.Update(ctx, mc)
	})
}

// removal says how a Memcached is deleted, and when it is created again, if at all.
type removal struct {
	Objects metav1.DeletionPropagation `json:"objects"` // what happens to the objects that it owns
	Pause   metav1.Duration            `json:"pause"`
}

func drawDeletion(r *rand.Rand) any {
	pause := one(r, 0, 0, 10*time.Millisecond, 100*time.Millisecond, time.Second)
	return removal{
		one(r, metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan),
		metav1.Duration{Duration: pause},
	}
}

func deleteMemcached(ctx context.Context, w *world.World, step plan.Step, how removal) error {
	return attempt(ctx, func(ctx context.Context) error {
		mc := memcached(w, step.Cache)
		if err := w.Client.Get(ctx, client.ObjectKeyFromObject(mc), mc); err != nil {
			return err
		}
		before, _, _ := unstructured.NestedMap(mc.Object, "spec")
		w.Remember(step.Cache, before)
		return w.Client.Delete(ctx, mc, client.PropagationPolicy(how.Objects), client.Preconditions{UID: new(mc.GetUID())})
	})
}

// createAgain creates a Memcached with its last spec, if it does not exist.
func createAgain(ctx context.Context, w *world.World, step plan.Step) error {
	return attempt(ctx, func(ctx context.Context) error {
		mc := memcached(w, step.Cache)
		err := w.Client.Get(ctx, client.ObjectKeyFromObject(mc), mc)
		if !apierrors.IsNotFound(err) {
			return err
		}
		return createMemcached(ctx, w, step.Cache)
	})
}

// longestDeletion is how long recreateCache waits for the end of a deletion in the foreground, in which the garbage
// collector waits for Pods.
const longestDeletion = 3 * time.Second

func recreateCache(ctx context.Context, w *world.World, step plan.Step, how removal) error {
	if err := deleteMemcached(world.WithoutEffect(ctx), w, step, how); err != nil {
		return err
	}
	rest(ctx, how.Pause.Duration)
	_ = world.Await(ctx, longestDeletion, func(ctx context.Context) (bool, error) {
		err := createMemcached(ctx, w, step.Cache)
		return err == nil, err
	})
	return ctx.Err()
}

// createMemcached creates a Memcached with its last spec.
func createMemcached(ctx context.Context, w *world.World, name string) error {
	mc, spec := memcached(w, name), w.Recall(name)
	if spec == nil {
		spec = map[string]any{}
	}
	mc.Object["spec"] = spec
	err := w.Client.Create(ctx, mc)
	if err != nil {
		w.Remember(name, spec)
	}
	return err
}
