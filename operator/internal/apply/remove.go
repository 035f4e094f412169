package apply

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// child is a child that is there.
type child struct {
	kind   schema.GroupKind
	object client.Object
}

// unwanted returns the children that are there, may be ours, and are not among the objects.
func unwanted(mc *cachev1.Memcached, snapshot observe.Snapshot, objects []render.Object) []child {
	wanted := map[schema.GroupKind]bool{}
	for _, object := range objects {
		wanted[object.GroupKind] = true
	}
	var children []child
	for _, kind := range observe.Kinds() {
		live := snapshot.Objects[kind.GroupKind()]
		if live == nil || wanted[kind.GroupKind()] || isTerminating(live, mc) {
			continue
		}
		if metav1.IsControlledBy(live, mc) || mayBeOwned(live, mc) {
			children = append(children, child{kind: kind.GroupKind(), object: live})
		}
	}
	return children
}

// mayBeOwned tells whether it is worth reading by whom an object was made that the Memcached does not control.
func mayBeOwned(live metav1.Object, mc *cachev1.Memcached) bool {
	return otherOwner(live, mc) == "" && live.GetAnnotations()[names.AnnotationAppliedHash] != ""
}

// removeAttempts is how often a child is deleted whose status is written at the same time, as that of a
// PodDisruptionBudget is whenever a Pod comes or goes.
const removeAttempts = 5

// remove deletes a child that is ours, as it was seen to be: neither another one that took its place, which the uid
// would be enough for, nor one that somebody took from us since. If it was changed, it is looked at once more.
func (s *Syncer) remove(ctx context.Context, mc *cachev1.Memcached, unwanted child) (Outcome, error) {
	live := unwanted.object
	var err error
	if !metav1.IsControlledBy(live, mc) {
		live, err = s.withManagedFields(ctx, live, unwanted.kind)
	}
	for attempt := 1; err == nil; attempt++ {
		if isTerminating(live, mc) || !isOwned(live, mc) {
			return Outcome{Result: Unchanged}, nil
		}
		err = s.client.Delete(ctx, live, client.Preconditions{
			UID: new(live.GetUID()), ResourceVersion: new(live.GetResourceVersion()),
		})
		if !apierrors.IsConflict(err) || attempt == removeAttempts {
			break
		}
		live = observe.New(unwanted.kind)
		err = s.live.Get(ctx, client.ObjectKeyFromObject(mc), live)
	}
	return Outcome{Result: Deleted}, client.IgnoreNotFound(err)
}

// isOwned tells whether the Memcached controls an object, or would if nobody had removed the reference to it. For the
// latter, the object has to have managed fields.
func isOwned(live metav1.Object, mc *cachev1.Memcached) bool {
	return metav1.IsControlledBy(live, mc) || otherOwner(live, mc) == "" && drift.Applied(live)
}
