package kubelet

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// These are the times for which a Pod with a slot continues to serve while it terminates. All of them are shorter than
// in the documentation, so that a run sees many such Pods end.
const (
	drains     = time.Second      // once another Pod has its slot
	remembered = 2 * time.Second  // once its slot has no address
	patience   = 4 * time.Second  // if no other Pod begins to copy its keys
	handoffs   = 20 * time.Second // if the copy does not end
)

// ending is what the agent of a Pod that terminates knows.
type ending struct {
	began  time.Time
	copied bool // another Pod has begun to copy its keys

	holder types.UID // the Pod that has the slot, or none
	since  time.Time // when the holder was first seen
}

// holders maps the namespace and the name of each slot to the UID of the Pod that has the slot. It does not contain
// slots without an address.
type holders map[types.NamespacedName]types.UID

// readHolders returns which Pod has which slot. Like DNS, it ignores endpoints that are not ready. It returns an error
// while the API server does not answer.
func (k *Kubelet) readHolders(ctx context.Context) (holders, error) {
	list := &discoveryv1.EndpointSliceList{}
	err := k.kube.List(ctx, list, client.MatchingLabels{discoveryv1.LabelManagedBy: "memcached-operator.cache.example.com"})
	found := holders{}
	for i := range list.Items {
		slice := &list.Items[i]
		for _, endpoint := range slice.Endpoints {
			if endpoint.Hostname != nil && endpoint.TargetRef != nil && !isUnready(endpoint.Conditions.Ready) {
				found[types.NamespacedName{Namespace: slice.Namespace, Name: *endpoint.Hostname}] = endpoint.TargetRef.UID
			}
		}
	}
	return found, err
}

// ends reports whether a Pod that terminates ends now.
func (k *Kubelet) ends(pod *corev1.Pod, found holders, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := k.agents[pod.UID]
	if a == nil || pod.Status.Phase != corev1.PodRunning || now.After(pod.DeletionTimestamp.Time) {
		return true // Nothing runs in the Pod, or its grace period is over.
	}
	slot := a.current.Slot
	if a.ending == nil {
		a.ending = &ending{began: now, since: now, holder: pod.UID}
	}
	for uid, other := range k.agents {
		copies := other.current.Role == "receive" && other.current.Slot == slot && uid != pod.UID
		a.ending.copied = a.ending.copied || copies && other.namespace == pod.Namespace
	}
	if holder := found[types.NamespacedName{Namespace: pod.Namespace, Name: slot}]; holder != a.ending.holder {
		a.ending.holder, a.ending.since = holder, now
	}
	return !now.Before(a.ending.until(a.current.Role, pod.UID))
}

// until returns the time at which the Pod ends.
func (e *ending) until(role string, pod types.UID) time.Time {
	switch {
	case role == "":
		return e.began
	case role == "leave":
		return e.began.Add(drains)
	case e.holder == "":
		return e.since.Add(remembered)
	case e.holder != pod:
		return e.since.Add(drains)
	case e.copied:
		return e.began.Add(handoffs)
	}
	return e.began.Add(patience)
}

// isUnready reports whether an endpoint is published as not ready. An endpoint without a value is ready.
func isUnready(ready *bool) bool { return ready != nil && !*ready }
