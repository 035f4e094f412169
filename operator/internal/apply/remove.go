package apply

// Deletes owned objects that are no longer desired.

import (
	"cmp"
	"context"
	"slices"
	"strings"

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

// isSlotService reports whether an object is the Service of all slots. This Service is the last object of slots in the
// order of kind and name, so it is deleted last.
func isSlotService(mc *cachev1.Memcached, key observe.Key) bool {
	return key == observe.Key{GroupKind: observe.ServiceKind.GroupKind(), Name: names.SlotService(mc.Name)}
}

// isFormerBinding reports whether an object is the Secret of a former binding, which another Secret replaces.
func isFormerBinding(key observe.Key, objects []render.Object) bool {
	return key.GroupKind == observe.SecretKind.GroupKind() && slices.ContainsFunc(objects, func(o render.Object) bool {
		return o.GroupKind == key.GroupKind
	})
}

// removeUnwanted deletes the objects that are no longer desired, including those that the cache does not have.
func (s *Syncer) removeUnwanted(
	ctx context.Context, mc *cachev1.Memcached, snapshot observe.Snapshot, objects []render.Object, made Report,
) Report {
	snapshot, removed := s.withLost(ctx, mc, snapshot, objects)
	for _, key := range unwanted(mc, snapshot, objects) {
		if isSlotService(mc, key) && removed.Err() != nil {
			continue // It stays, because it shows that objects of slots are still to be deleted.
		}
		if isFormerBinding(key, objects) && !made.isMade(key.GroupKind) {
			continue // Clients have no other Secret yet.
		}
		live := snapshot.Objects[key]
		outcome, err := s.remove(ctx, mc, key.GroupKind, live)
		if err == nil {
			s.lost.noteRemoved(client.ObjectKeyFromObject(mc), key, live.GetUID())
		}
		outcome.GroupKind, outcome.Name = key.GroupKind, key.Name
		removed = append(removed, settle(outcome, err))
	}
	return removed
}

// unwanted returns the existing objects that are, or may be, owned and are not desired, in the order of kind and name.
func unwanted(mc *cachev1.Memcached, snapshot observe.Snapshot, objects []render.Object) []observe.Key {
	wanted := map[observe.Key]bool{}
	for _, object := range objects {
		wanted[keyOf(object)] = true
	}
	var found []observe.Key
	for key, live := range snapshot.Objects {
		if !wanted[key] && !isTerminating(live, mc) && (metav1.IsControlledBy(live, mc) || mayBeOwned(live, mc)) {
			found = append(found, key)
		}
	}
	slices.SortFunc(found, func(a, b observe.Key) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return found
}

// mayBeOwned reports whether an object that the Memcached does not control could be the operator's own. If so, its
// managed fields are read to find out.
func mayBeOwned(live metav1.Object, mc *cachev1.Memcached) bool {
	return otherOwner(live, mc) == "" && live.GetAnnotations()[names.AnnotationAppliedHash] != ""
}

// removeAttempts is how often a deletion is tried if another client writes the object's status in the meantime. For
// example, the status of a PodDisruptionBudget changes with each change to a Pod.
const removeAttempts = 5

// remove deletes an owned object in the version that was read. The uid in the request protects an object that has
// replaced the one that was read, and the resource version protects an object that another client has adopted since.
// After a conflict it reads the object again.
func (s *Syncer) remove(
	ctx context.Context, mc *cachev1.Memcached, kind schema.GroupKind, live client.Object,
) (Outcome, error) {
	key, err := client.ObjectKeyFromObject(live), error(nil)
	if !metav1.IsControlledBy(live, mc) {
		live, err = s.withManagedFields(ctx, live, kind)
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
		live = observe.New(kind)
		err = s.live.Get(ctx, key, live)
	}
	return Outcome{Result: Deleted}, client.IgnoreNotFound(err)
}

// isOwned reports whether the Memcached controls an object, or did until its owner reference was removed. Only managed
// fields show the latter.
func isOwned(live metav1.Object, mc *cachev1.Memcached) bool {
	return metav1.IsControlledBy(live, mc) || otherOwner(live, mc) == "" && drift.Applied(live)
}
