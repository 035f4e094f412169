package actions

import (
	"context"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/proxy"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// deletion is the deletion of a managed object, or of a ReplicaSet.
type deletion struct {
	Kind        string                     `json:"kind"`
	Propagation metav1.DeletionPropagation `json:"propagation"`
}

// recreation is a deletion, after which another client creates an object with the same name, which has another uid.
type recreation struct {
	Kind   string `json:"kind"`
	AsIs   bool   `json:"asIs"`   // also copies the labels and the operator's annotations
	Allows string `json:"allows"` // which Memcached its annotation allows to adopt it: "", right or wrong
}

// hold is a finalizer on an object, which may then be deleted.
type hold struct {
	lasting

	Kind   string `json:"kind"`
	Delete bool   `json:"delete"`
}

// onKind is the argument of actions on an object of a kind.
type onKind struct {
	Kind string `json:"kind"`
}

func objects() []Action {
	return []Action{
		{plan.Action{Name: "a third party deletes an object", Weight: 3, Draw: func(r *rand.Rand) any {
			return deletion{one(r, drawKind(r), drawKind(r), "ReplicaSet"), one(r, metav1.DeletePropagationForeground,
				metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan)}
		}}, given(deleteObject)},
		{plan.Action{Name: "a third party recreates an object", Weight: 2, Draw: func(r *rand.Rand) any {
			return drawRecreation(r, drawKind(r))
		}}, given(recreate)},
		{plan.Action{Name: "a third party recreates an object before a write", Weight: 2, Draw: func(r *rand.Rand) any {
			return drawRecreation(r, one(r, drawKind(r), "PodDisruptionBudget")) // the operator deletes it most often
		}}, given(recreateBeforeWrite)},
		{plan.Action{Name: "a third party changes the owner of an object", Weight: 2, Draw: func(r *rand.Rand) any {
			owner := one(r, noOwner, noOwner, otherOwner, controller, additional, noController, formerCache)
			return ownership{one(r, drawKind(r), "ReplicaSet"), owner}
		}}, given(changeOwner)},
		{plan.Action{Name: "a third party removes managed fields", Weight: 1, Draw: func(r *rand.Rand) any {
			return onKind{drawKind(r)}
		}}, given(stripManagedFields)},
		{plan.Action{Name: "a finalizer holds an object", Weight: 1, Draw: func(r *rand.Rand) any {
			return hold{drawLasting(r), drawKind(r), r.IntN(4) > 0}
		}}, given(holdObject)},
	}
}

func deleteObject(ctx context.Context, w *world.World, step plan.Step, with deletion) error {
	return onTarget(ctx, w, with.Kind, step.Cache, func(ctx context.Context, object *unstructured.Unstructured) error {
		return w.Client.Delete(ctx, object, client.PropagationPolicy(with.Propagation), uidOf(object))
	})
}

func uidOf(object client.Object) client.Preconditions {
	return client.Preconditions{UID: new(object.GetUID())}
}

func drawRecreation(r *rand.Rand, kind string) recreation {
	return recreation{kind, r.IntN(2) == 0, one(r, "", "", "right", "wrong")}
}

// recreate competes with the operator, because the operator also creates the deleted object again.
func recreate(ctx context.Context, w *world.World, step plan.Step, with recreation) error {
	object, err := replaceOnce(ctx, w, step.Cache, with)
	if object != nil {
		w.Later(func(ctx context.Context) error { return unblock(ctx, w, object) })
	}
	return err
}

// recreateBeforeWrite recreates the object when the operator has sent a write for it, before the write reaches the API
// server. It waits for this write in the background, because the next steps may cause it.
func recreateBeforeWrite(ctx context.Context, w *world.World, step plan.Step, with recreation) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kinds[with.Kind])
	object.SetNamespace(w.Namespace)
	object.SetName(nameOf(with.Kind, step.Cache))
	w.Later(func(ctx context.Context) error { return unblock(ctx, w, object) })
	resource, _ := meta.UnsafeGuessKindToResource(kinds[with.Kind])
	isOfObject := func(r proxy.Request) bool {
		return r.IsWrite() && r.Resource == resource.Resource && r.Name == object.GetName()
	}
	inject(ctx, w, &proxy.Rule{Matches: isOfObject, Times: 1, Fault: func(c proxy.Call) {
		if _, err := replaceOnce(world.WithoutEffect(ctx), w, step.Cache, with); err != nil {
			w.Fail(err)
		}
		c.Next.ServeHTTP(c.W, c.R)
	}})
	return nil
}

// replaceOnce deletes an object and creates another one with the same name. It does nothing if the object does not
// exist. If the operator is faster, the operator's object stays. It returns the object that it tried to create.
func replaceOnce(
	ctx context.Context, w *world.World, cache string, with recreation,
) (created *unstructured.Unstructured, err error) {
	var object *unstructured.Unstructured
	err = ask(ctx, func(ctx context.Context) (err error) {
		object, err = target(ctx, w, with.Kind, cache)
		return err
	})
	if err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	err = intrude(world.WithoutEffect(ctx), func(ctx context.Context) error {
		return w.Client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground))
	})
	if err != nil {
		return nil, err
	}
	created = lookalike(object, with.AsIs, adopters(cache)[with.Allows])
	return created, create(ctx, w, created)
}

// adopters are the values of the annotation that allows an adoption, by recreation.Allows.
func adopters(cache string) map[string]string {
	return map[string]string{"right": cache, "wrong": "other"}
}

// lookalike returns an object like this one, for another client to create.
func lookalike(object *unstructured.Unstructured, asIs bool, adoptBy string) *unstructured.Unstructured {
	created := &unstructured.Unstructured{Object: map[string]any{}}
	created.SetGroupVersionKind(object.GroupVersionKind())
	created.SetNamespace(object.GetNamespace())
	created.SetName(object.GetName())
	for name, value := range object.Object {
		if name != "metadata" && name != "status" && name != "apiVersion" && name != "kind" {
			created.Object[name] = value
		}
	}
	unstructured.RemoveNestedField(created.Object, "spec", "clusterIPs")
	unstructured.RemoveNestedField(created.Object, "spec", "paused") // The operator would not revert this.
	if asIs {
		created.SetLabels(object.GetLabels())
		created.SetAnnotations(object.GetAnnotations())
	}
	if adoptBy != "" {
		annotations := created.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations["cache.example.com/adopt-by"] = adoptBy
		created.SetAnnotations(annotations)
	}
	return created
}

// create creates an object, unless an object with its name exists.
func create(ctx context.Context, w *world.World, object *unstructured.Unstructured) error {
	return intrude(ctx, func(ctx context.Context) error { return w.Client.Create(ctx, object.DeepCopy(), thirdParty) })
}

// occupy does the same as create. When the faults end, the object is deleted if the operator may not adopt it
// (unblock).
func occupy(ctx context.Context, w *world.World, object *unstructured.Unstructured) error {
	err := create(ctx, w, object)
	w.Later(func(ctx context.Context) error { return unblock(ctx, w, object) })
	return err
}

// unblock deletes an object that the operator may not adopt. From other objects, it removes the owner that a step
// added, because with this owner the garbage collector would keep the object when the Memcached is deleted.
func unblock(ctx context.Context, w *world.World, of *unstructured.Unstructured) error {
	return intrude(ctx, func(ctx context.Context) error {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(of.GroupVersionKind())
		if err := w.Client.Get(ctx, client.ObjectKeyFromObject(of), object); err != nil {
			return err
		}
		if isInTheWay(object) {
			return w.Client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground), uidOf(object))
		}
		kept := slices.DeleteFunc(object.GetOwnerReferences(), isThirdParty)
		if len(kept) == len(object.GetOwnerReferences()) {
			return nil
		}
		object.SetOwnerReferences(kept)
		return w.Client.Update(ctx, object, thirdParty)
	})
}

// isInTheWay reports whether the operator may not adopt the object. As documented, it may adopt an object that has the
// annotation which allows the adoption, or fields that the operator has applied.
func isInTheWay(object *unstructured.Unstructured) bool {
	owners := object.GetOwnerReferences()
	if slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool { return !isThirdParty(o) && isController(o) }) {
		return false
	}
	applied := slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == "memcached-operator" && entry.Operation == metav1.ManagedFieldsOperationApply
	})
	allowed := object.GetAnnotations()["cache.example.com/adopt-by"] == object.GetName()
	return slices.ContainsFunc(owners, isThirdParty) || !applied && !allowed
}

func isThirdParty(owner metav1.OwnerReference) bool { return owner.Kind == "ConfigMap" }

func isController(owner metav1.OwnerReference) bool {
	return owner.Controller != nil && *owner.Controller
}

// stripManagedFields removes the managed fields of an object, so that its fields have no owner.
func stripManagedFields(ctx context.Context, w *world.World, step plan.Step, with onKind) error {
	return onTarget(ctx, w, with.Kind, step.Cache, func(ctx context.Context, object *unstructured.Unstructured) error {
		w.Later(func(ctx context.Context) error { return unblock(ctx, w, object) })
		return w.Client.Patch(ctx, object, client.RawPatch(mergePatch, []byte(`{"metadata":{"managedFields":[{}]}}`)))
	})
}

const finalizer = "example.com/third-party"

// holdObject adds a finalizer to an object, and removes it after a while. It may also delete the object.
func holdObject(ctx context.Context, w *world.World, step plan.Step, with hold) error {
	var held *unstructured.Unstructured
	err := onTarget(ctx, w, with.Kind, step.Cache, func(ctx context.Context, object *unstructured.Unstructured) error {
		held = object
		object.SetFinalizers(append(object.GetFinalizers(), finalizer))
		return w.Client.Update(ctx, object, thirdParty)
	})
	if held == nil || err != nil {
		return err
	}
	endAfter(ctx, w, with.For.Duration, func(ctx context.Context) error { return releaseHeld(ctx, w, held) })
	if !with.Delete {
		return nil
	}
	return intrude(ctx, func(ctx context.Context) error { return w.Client.Delete(ctx, held, uidOf(held)) })
}

// releaseHeld removes the finalizer from an object.
func releaseHeld(ctx context.Context, w *world.World, held client.Object) error {
	return intrude(ctx, func(ctx context.Context) error {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(held.GetObjectKind().GroupVersionKind())
		if err := w.Client.Get(ctx, client.ObjectKeyFromObject(held), object); err != nil {
			return err
		}
		object.SetFinalizers(slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == finalizer }))
		return w.Client.Update(ctx, object, thirdParty)
	})
}
