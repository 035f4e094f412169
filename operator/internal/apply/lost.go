package apply

// Finds owned objects that are no longer desired, and that the cache does not have, because another client changed the
// labels by which the cache selects objects.

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// removalTTL is how long a deletion by the operator is remembered, so that the event of the deletion can be ignored.
const removalTTL = time.Minute

// lost remembers, for each Memcached, the objects that disappeared from the cache and that the operator did not delete.
// An event does not show whether such an object was deleted or only lost its labels.
type lost struct {
	scheme  *runtime.Scheme
	removed *cache.Expiring // by uid

	mu sync.Mutex
	of map[client.ObjectKey]*lostOf
}

// unknown is the uid of an object that may not exist.
const unknown types.UID = ""

type lostOf struct {
	isKnown bool // Objects of an earlier operator process were added.
	objects map[observe.Key]types.UID
}

func newLost(scheme *runtime.Scheme) *lost {
	return &lost{scheme: scheme, removed: cache.NewExpiring(), of: map[client.ObjectKey]*lostOf{}}
}

// find returns the remembered objects of a Memcached. The caller holds the lock.
func (l *lost) find(memcached client.ObjectKey) *lostOf {
	if l.of[memcached] == nil {
		l.of[memcached] = &lostOf{objects: map[observe.Key]types.UID{}}
	}
	return l.of[memcached]
}

// note records that the cache does not have an object any more, or has it again.
func (l *lost) note(object client.Object, isMissing bool) {
	owner := metav1.GetControllerOf(object)
	kind, err := apiutil.GVKForObject(object, l.scheme)
	if err != nil || owner == nil || owner.Kind != "Memcached" || owner.APIVersion != cachev1.GroupVersion.String() {
		return
	}
	memcached := client.ObjectKey{Namespace: object.GetNamespace(), Name: owner.Name}
	key := observe.Key{GroupKind: kind.GroupKind(), Name: object.GetName()}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !isMissing {
		delete(l.find(memcached).objects, key)
	} else if _, isRemoved := l.removed.Get(object.GetUID()); !isRemoved {
		l.find(memcached).objects[key] = object.GetUID()
	}
}

// list returns the objects that a Memcached may have although the cache does not have them. Objects that an earlier
// operator process may have left are added once.
func (l *lost) list(mc *cachev1.Memcached) map[observe.Key]types.UID {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.find(client.ObjectKeyFromObject(mc))
	if !of.isKnown && isUnfinished(mc) {
		for _, key := range optional(mc) {
			of.objects[key] = cmp.Or(of.objects[key], unknown)
		}
	}
	of.isKnown = true
	return maps.Clone(of.objects)
}

// settle forgets an object that does not exist or is not owned, unless another object with its name was lost since.
func (l *lost) settle(memcached client.ObjectKey, key observe.Key, uid types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if of := l.find(memcached); of.objects[key] == uid || of.objects[key] == unknown {
		delete(of.objects, key)
	}
}

// noteRemoved forgets an object that the operator deleted. The event of the deletion may arrive before or after this
// call.
func (l *lost) noteRemoved(memcached client.ObjectKey, key observe.Key, uid types.UID) {
	l.removed.Set(uid, nil, removalTTL)
	l.settle(memcached, key, uid)
}

// Forget forgets a deleted Memcached.
func (s *Syncer) Forget(memcached types.NamespacedName) {
	s.lost.mu.Lock()
	defer s.lost.mu.Unlock()
	delete(s.lost.of, memcached)
}

// NoteMissing is called for each managed object that the cache does not have any more.
func (s *Syncer) NoteMissing(object client.Object) { s.lost.note(object, true) }

// withLost adds to a snapshot the objects that are not desired, and that the cache does not have because they lost
// their labels. It returns a failed outcome for each object that cannot be read.
func (s *Syncer) withLost(
	ctx context.Context, mc *cachev1.Memcached, snapshot observe.Snapshot, objects []render.Object,
) (observe.Snapshot, Report) {
	suspects := s.lost.list(mc)
	for _, object := range objects {
		delete(suspects, keyOf(object))
	}
	if len(suspects) == 0 {
		return snapshot, nil
	}
	snapshot.Objects = maps.Clone(snapshot.Objects)
	var failed Report
	for key, uid := range suspects {
		if snapshot.Objects[key] != nil {
			continue
		}
		live := observe.New(key.GroupKind)
		switch err := s.live.Get(ctx, client.ObjectKey{Namespace: mc.Namespace, Name: key.Name}, live); {
		case apierrors.IsNotFound(err):
		case err != nil:
			err = fmt.Errorf("look for an object of a former spec: %w", err)
			failed = append(failed, settle(Outcome{GroupKind: key.GroupKind, Name: key.Name}, err))
			continue
		case !isTerminating(live, mc) && isOwned(live, mc):
			snapshot.Objects[key] = live
			continue
		}
		s.lost.settle(client.ObjectKeyFromObject(mc), key, uid)
	}
	return snapshot, failed
}

// isUnfinished reports whether an earlier operator process may have left an object that the spec no longer requests:
// the status is about an earlier spec, or reports a failed write.
func isUnfinished(mc *cachev1.Memcached) bool {
	ready := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady)
	return mc.Status.ObservedGeneration != 0 && mc.Status.ObservedGeneration != mc.Generation ||
		ready != nil && ready.Reason == cachev1.ReasonApplyFailed
}

// optional returns the objects that a Memcached may have had because of a former spec. It returns only kinds that the
// operator always has the rights to read.
func optional(mc *cachev1.Memcached) []observe.Key {
	keys := []observe.Key{
		{GroupKind: observe.DeploymentKind.GroupKind(), Name: names.Bootstrap(mc.Name)},
		{GroupKind: observe.ServiceKind.GroupKind(), Name: names.DiscoveryService(mc.Name)},
	}
	for _, kind := range observe.Kinds() {
		keys = append(keys, observe.Key{GroupKind: kind.GroupKind(), Name: mc.Name})
	}
	return keys
}
