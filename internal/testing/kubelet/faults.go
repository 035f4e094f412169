package kubelet

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// These faults may happen to a copy, or to the resize of a Pod.
const (
	Fails    = "fails"    // the agent ends with the exit code 3, and a reason
	Restarts = "restarts" // the agent is killed
	Hangs    = "hangs"    // the copy makes no progress while the fault lasts

	Deferred   = corev1.PodReasonDeferred   // the Node has no room now
	Infeasible = corev1.PodReasonInfeasible // the Node never has room
	Halfway    = "halfway"                  // containers have their new requests, and still their old limits
)

// Fault is something that happens to the copies of a cache, once to each, or to the resizes of its Pods.
type Fault struct {
	Namespace, Cache string
	Kind             string

	// Struck is called each time that the fault happens to a copy or a resize.
	Struck func()

	struck map[Order]bool
	hung   []*player
}

// Begin begins a fault. A nil Kubelet, which stands for real Nodes, has no faults.
func (k *Kubelet) Begin(f *Fault) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f.struck = map[Order]bool{}
	k.faults = append(k.faults, f)
}

// End ends a fault: copies that hang continue.
func (k *Kubelet) End(f *Fault) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.faults = slices.DeleteFunc(k.faults, func(other *Fault) bool { return f == other })
	for _, a := range f.hung {
		if a.copied.IsZero() {
			a.copied = time.Now().Add(a.copying)
		}
	}
}

func (f *Fault) isOf(pod *corev1.Pod) bool {
	return f.Namespace == pod.Namespace && f.Cache == pod.Labels["memcached_cr"]
}

func (f *Fault) refusesResizes() bool {
	return f.Kind == Deferred || f.Kind == Infeasible || f.Kind == Halfway
}

// strike lets the faults happen to an agent that copies keys.
func (k *Kubelet) strike(a *player, pod *corev1.Pod, now time.Time) {
	for _, f := range k.faults {
		if !f.isOf(pod) || f.refusesResizes() || f.struck[a.current] || !a.isCopying(now) {
			continue
		}
		f.struck[a.current] = true
		switch f.Kind {
		case Fails:
			a.end(3, `{"reason":"FromUnreachable","error":"the campaign ended the copy"}`, now)
		case Restarts:
			a.end(137, "", now)
		case Hangs:
			a.copied, f.hung = time.Time{}, append(f.hung, a)
		}
		f.Struck()
	}
}
