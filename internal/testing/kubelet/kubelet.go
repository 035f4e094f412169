// Package kubelet does what kwok does not do for simulated Pods with slots: it plays their agents, whose readiness
// follows the operator's instruction, and makes a Pod ready only if its readiness gates are true. The package follows
// the operator's documentation, and uses none of the operator's code.
package kubelet

import (
	"context"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// interval is how often the Pods are read.
const interval = 100 * time.Millisecond

// Kubelet plays the agents of all Pods with slots.
type Kubelet struct {
	kube client.Client

	mu     sync.Mutex
	faults []*Fault
	agents map[types.UID]*player

	stop context.CancelFunc
	done sync.WaitGroup
}

// Start starts to play, until the Kubelet is stopped.
func Start(kube client.Client) *Kubelet {
	ctx, stop := context.WithCancel(context.Background())
	k := &Kubelet{kube: kube, stop: stop, agents: map[types.UID]*player{}}
	k.done.Go(func() {
		for ctx.Err() == nil {
			k.act(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(interval):
			}
		}
	})
	return k
}

// Stop stops the Kubelet. A nil Kubelet plays nothing.
func (k *Kubelet) Stop() {
	if k != nil {
		k.stop()
		k.done.Wait()
	}
}

// act updates each Pod whose status changes. If another client changed a Pod in the meantime, the next call updates the
// Pod.
func (k *Kubelet) act(ctx context.Context) {
	pods := &corev1.PodList{}
	if k.kube.List(ctx, pods, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}) != nil {
		return // The API server may have been stopped.
	}
	existing := map[types.UID]bool{}
	held, heldErr := k.readHolders(ctx)
	for i := range pods.Items {
		pod := &pods.Items[i]
		existing[pod.UID] = true
		if IsBootstrap(pod) && pod.Status.Phase == corev1.PodRunning {
			k.update(ctx, pod, func() { // Copying the keys of other servers takes no time here.
				ReportBootstrap(pod, true)
				SetConditions(pod, "ContainersNotReady")
			})
		}
		if HasSlots(pod) {
			k.actOn(ctx, pod, held, heldErr == nil)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for uid := range k.agents {
		if !existing[uid] {
			delete(k.agents, uid)
		}
	}
}

// actOn updates a Pod with a slot.
func (k *Kubelet) actOn(ctx context.Context, pod *corev1.Pod, held holders, isKnown bool) {
	if pod.DeletionTimestamp != nil && isKnown && k.ends(pod, held, time.Now()) {
		_ = k.kube.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
		return
	}
	if pod.Status.Phase == corev1.PodRunning {
		k.update(ctx, pod, func() { k.play(pod, time.Now()) })
	}
}

// update calls change, and writes the status of the Pod if change has changed it.
func (k *Kubelet) update(ctx context.Context, pod *corev1.Pod, change func()) {
	before := pod.Status.DeepCopy()
	change()
	if !reflect.DeepEqual(before, &pod.Status) {
		_ = k.kube.Status().Update(ctx, pod)
	}
}

// play changes the status of a Pod to what its agent and its kubelet would report at a time.
func (k *Kubelet) play(pod *corev1.Pod, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := k.agents[pod.UID]
	if a == nil {
		a = &player{namespace: pod.Namespace, delay: between(100, 500), copying: between(200, 1500)}
		k.agents[pod.UID] = a
	}
	for i := range pod.Status.InitContainerStatuses {
		if status := &pod.Status.InitContainerStatuses[i]; status.Name == agent && status.State.Waiting == nil {
			o := OrderOf(pod)
			if pod.DeletionTimestamp != nil {
				o = a.next // The kubelet passes no new instruction to a terminating Pod.
			}
			a.follow(o, now)
			k.strike(a, pod, now)
			a.report(status, now)
		}
	}
	k.resize(pod)
	SetConditions(pod, "ContainersNotReady")
}

// between returns a random time from least to most milliseconds.
func between(least, most int) time.Duration {
	return time.Duration(least+rand.IntN(most-least)) * time.Millisecond //nolint:gosec // no secret
}
