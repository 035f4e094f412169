package controller

// The watches of EndpointSlices and of ReplicaSets. Only caches with slots need them.

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// slotWatch watches EndpointSlices, and the metadata of ReplicaSets, once a Memcached has slots.
type slotWatch struct {
	controller controller.Controller
	cache      cache.Cache
	reader     client.Reader
	rights     *rights
	slices     source.Source
	sets       source.Source

	mu      sync.Mutex
	started bool
}

func newSlotWatch(mgr ctrl.Manager, reader client.Reader, slotRights *rights, changes predicate.Predicate) *slotWatch {
	owner := handler.EnqueueRequestForOwner(
		mgr.GetScheme(), mgr.GetRESTMapper(), &cachev1.Memcached{}, handler.OnlyControllerOwner())
	var slice, set client.Object = &discoveryv1.EndpointSlice{}, observe.ReplicaSet()
	return &slotWatch{
		cache: mgr.GetCache(), reader: reader, rights: slotRights,
		slices: source.Kind(mgr.GetCache(), slice, owner, changes),
		sets: source.Kind(mgr.GetCache(), set,
			handler.EnqueueRequestsFromMapFunc(memcachedOf), predicate.Predicate(replicaSetChanges)),
	}
}

// startFor starts the watches if the Memcached has slots, or had some. It returns whether the Memcached has or had
// slots, and which rights are missing for the watches.
func (w *slotWatch) startFor(ctx context.Context, mc *cachev1.Memcached) (hasSlots bool, missing []string, err error) {
	if hasSlots, err = w.concerns(ctx, mc); err != nil || !hasSlots {
		return false, nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started {
		return true, nil, nil
	}
	if missing, err = w.rights.missing(ctx); err != nil || len(missing) > 0 {
		return false, missing, err
	}
	if err := w.start(ctx); err != nil {
		return false, nil, err
	}
	w.started = true
	return true, nil, nil
}

// concerns reports whether a Memcached has slots, or still has objects of slots that it had. Services are always
// cached, so a restarted operator finds these objects, too. One Service of slots is enough for this. Usually it is the
// Service of all slots, which is deleted last. But another operator may have created the Service of a single slot
// again, and another client may have created an object with the name of the Service of all slots, or removed its label.
func (w *slotWatch) concerns(ctx context.Context, mc *cachev1.Memcached) (bool, error) {
	if mc.Spec.Slots != nil || len(mc.Status.Slots) > 0 {
		return true, nil
	}
	services := &corev1.ServiceList{}
	of := client.MatchingFields{observe.MemcachedIndex: mc.Name}
	if err := w.reader.List(ctx, services, client.InNamespace(mc.Namespace), of); err != nil {
		return false, fmt.Errorf("list the Services of slots: %w", err)
	}
	if slices.ContainsFunc(services.Items, func(s corev1.Service) bool { return belongs(&s, mc) }) {
		return true, nil
	}
	for _, name := range []string{names.SlotService(mc.Name), names.SlotName(mc.Name, 0)} {
		if has, err := w.hasService(ctx, mc, name); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

// hasService reports whether a Service with the name exists, and belongs to the Memcached or has no owner.
func (w *slotWatch) hasService(ctx context.Context, mc *cachev1.Memcached, name string) (bool, error) {
	key, former := client.ObjectKey{Namespace: mc.Namespace, Name: name}, &corev1.Service{}
	switch err := w.reader.Get(ctx, key, former); {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read Service %s: %w", key, err)
	}
	return belongs(former, mc), nil
}

// belongs reports whether an object belongs to the Memcached or has no owner.
func belongs(object client.Object, mc *cachev1.Memcached) bool {
	owner := metav1.GetControllerOf(object)
	return owner == nil || owner.UID == mc.UID
}

// indexSlotServices is needed even if no Memcached has slots, because a Memcached that had slots may still have the
// Service of a slot.
func indexSlotServices(mgr ctrl.Manager) error {
	err := mgr.GetFieldIndexer().IndexField(
		context.Background(), &corev1.Service{}, observe.MemcachedIndex, observe.InstanceOfSlot)
	if err != nil {
		return fmt.Errorf("index the Services of slots: %w", err)
	}
	return nil
}

func (w *slotWatch) start(ctx context.Context) error {
	for _, kind := range []client.Object{&discoveryv1.EndpointSlice{}, observe.ReplicaSet()} {
		err := w.cache.IndexField(ctx, kind, observe.MemcachedIndex,
			func(object client.Object) []string { return []string{observe.InstanceOf(object)} })
		if err != nil {
			return fmt.Errorf("index the objects of slots: %w", err)
		}
	}
	for _, kind := range []source.Source{w.slices, w.sets} {
		if err := w.controller.Watch(kind); err != nil {
			return fmt.Errorf("watch the objects of slots: %w", err)
		}
	}
	return nil
}
