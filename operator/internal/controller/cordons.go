package controller

// Watches which Nodes are cordoned, once a Memcached has slots.

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	discoveryv1 "k8s.io/api/discovery/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// nodeIndex finds the Pods with slots on a Node. The cache has the Node of no other Pods.
const nodeIndex = "node"

// indexSlots finds the objects of slots, and the Pods that a cordon concerns.
func indexSlots(mgr ctrl.Manager) error {
	ctx, indexer := context.Background(), mgr.GetFieldIndexer()
	for _, kind := range []client.Object{&corev1.Service{}, &discoveryv1.EndpointSlice{}, observe.ReplicaSet()} {
		err := indexer.IndexField(ctx, kind, observe.MemcachedIndex,
			func(object client.Object) []string { return []string{observe.InstanceOf(object)} })
		if err != nil {
			return err
		}
	}
	return indexer.IndexField(ctx, &corev1.Pod{}, nodeIndex, func(pod client.Object) []string {
		if node := pod.(*corev1.Pod).Spec.NodeName; node != "" {
			return []string{node}
		}
		return nil
	})
}

// cordonWatch watches which Nodes are cordoned, once a Memcached has slots.
type cordonWatch struct {
	controller controller.Controller
	cache      cache.Cache
	reader     client.Reader
	enabled    bool

	mu      sync.Mutex
	started bool
}

// startFor starts the watch if the Memcached needs it.
func (w *cordonWatch) startFor(mc *cachev1.Memcached) error {
	if !w.enabled || mc.Spec.Slots == nil && len(mc.Status.Slots) == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started {
		return nil
	}
	if err := w.controller.Watch(source.Kind(w.cache, &corev1.Node{}, w.cordons())); err != nil {
		return fmt.Errorf("watch Nodes: %w", err)
	}
	w.started = true
	return nil
}

// cordons selects, of a Node's many updates, those that cordon or uncordon it.
func (w *cordonWatch) cordons() handler.TypedFuncs[*corev1.Node, reconcile.Request] {
	return handler.TypedFuncs[*corev1.Node, reconcile.Request]{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[*corev1.Node], q queue) {
			if e.Object.Spec.Unschedulable {
				w.changed(ctx, e.Object, q)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[*corev1.Node], q queue) {
			if e.ObjectOld.Spec.Unschedulable != e.ObjectNew.Spec.Unschedulable {
				w.changed(ctx, e.ObjectNew, q)
			}
		},
	}
}

// changed enqueues the Memcacheds with slots that have Pods on a Node.
func (w *cordonWatch) changed(ctx context.Context, node *corev1.Node, q queue) {
	pods := &corev1.PodList{}
	if err := w.reader.List(ctx, pods, client.MatchingFields{nodeIndex: node.Name}); err != nil {
		log.FromContext(ctx).Error(err, "List the Pods of a Node") // This reads the cache, so it is a programming error.
		return
	}
	for i := range pods.Items {
		for _, request := range memcachedOf(ctx, &pods.Items[i]) {
			q.Add(request)
		}
	}
}
