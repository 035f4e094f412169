// Package slotwatch watches every version of the EndpointSlices of a cache with slots, and collects states that clients
// must never see.
package slotwatch

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Watch is a watch in progress.
type Watch struct {
	kube   client.Reader
	events watch.Interface
	ended  chan struct{}

	mutex sync.Mutex
	seen  map[string]endpoints // by EndpointSlice
	wrong []string
}

// endpoints has the endpoints of an EndpointSlice by the names of their slots. In the EndpointSlice of a single slot,
// the name is empty.
type endpoints map[string]discoveryv1.Endpoint

// Start watches until End, or until the context ends.
func Start(ctx context.Context, kube client.WithWatch, namespace, cache string) (*Watch, error) {
	events, err := kube.Watch(ctx, &discoveryv1.EndpointSliceList{}, client.InNamespace(namespace),
		client.MatchingLabels{
			"memcached_cr": cache, discoveryv1.LabelManagedBy: "memcached-operator.cache.example.com",
		})
	if err != nil {
		return nil, err
	}
	w := &Watch{kube: kube, events: events, ended: make(chan struct{}), seen: map[string]endpoints{}}
	go func() {
		defer close(w.ended)
		for event := range events.ResultChan() {
			if slice, ok := event.Object.(*discoveryv1.EndpointSlice); ok {
				w.see(ctx, slice)
			}
		}
	}()
	return w, nil
}

// End ends the watch, and returns what was wrong: two Pods in a slot, a slot without the address of the Pod that serves
// it, or a slot with the address of a Pod that does not serve.
func (w *Watch) End() []string {
	w.events.Stop()
	<-w.ended
	return w.wrong
}

// Holder returns the Pod that the watch last saw in a slot of an EndpointSlice. The slot may already have another Pod.
func (w *Watch) Holder(slice, slot string) string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if target := w.seen[slice][slot].TargetRef; target != nil {
		return target.Name
	}
	return ""
}

func (w *Watch) see(ctx context.Context, slice *discoveryv1.EndpointSlice) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	now := endpoints{}
	for _, endpoint := range slice.Endpoints {
		slot := ""
		if endpoint.Hostname != nil {
			slot = *endpoint.Hostname
		}
		if _, found := now[slot]; found {
			w.add("two Pods in slot %q of %s: %+v", slot, slice.Name, slice.Endpoints)
		}
		now[slot] = endpoint
	}
	for slot, before := range w.seen[slice.Name] {
		if isPublished(before) && !isPublished(now[slot]) && w.serves(ctx, before.TargetRef) {
			w.add("slot %q of %s lost the address of Pod %s, which serves", slot, slice.Name, before.TargetRef.Name)
		}
	}
	for slot, after := range now {
		moved := !slices.Equal(after.Addresses, w.seen[slice.Name][slot].Addresses)
		if isPublished(after) && moved && !w.serves(ctx, after.TargetRef) {
			w.add("slot %q of %s has the address of Pod %s, which does not serve", slot, slice.Name, after.TargetRef.Name)
		}
	}
	w.seen[slice.Name] = now
}

func (w *Watch) add(format string, arguments ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, arguments...))
}

func isPublished(endpoint discoveryv1.Endpoint) bool {
	return len(endpoint.Addresses) > 0 && (endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready)
}

// serves reports whether memcached in a Pod is ready now.
func (w *Watch) serves(ctx context.Context, target *corev1.ObjectReference) bool {
	pod := &corev1.Pod{}
	err := w.kube.Get(ctx, client.ObjectKey{Namespace: target.Namespace, Name: target.Name}, pod)
	return err == nil && pod.UID == target.UID && pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning &&
		!slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return !s.Ready })
}
