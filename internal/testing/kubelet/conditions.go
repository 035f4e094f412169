package kubelet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// These are the names that the operator's documentation gives to the readiness gate, the agent and its instruction.
const (
	gate       = "cache.example.com/has-slot"
	agent      = "agent"
	annotation = "cache.example.com/handoff"
)

// HasSlots reports whether a Pod becomes ready only with a slot.
func HasSlots(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool {
		return g.ConditionType == gate
	})
}

// SetConditions sets the conditions ContainersReady and Ready as a kubelet does: both follow the containers, and Ready
// follows the readiness gates, too.
func SetConditions(pod *corev1.Pod, reason string) {
	status := &pod.Status
	containers := !slices.ContainsFunc(status.ContainerStatuses, isNotReady) &&
		!slices.ContainsFunc(status.InitContainerStatuses, isNotReady)
	ready := containers
	for _, g := range pod.Spec.ReadinessGates {
		ready = ready && isTrue(status.Conditions, g.ConditionType)
	}
	SetCondition(status, corev1.ContainersReady, containers, reason)
	SetCondition(status, corev1.PodReady, ready, reason)
}

// isNotReady reports whether a container is not ready. Init containers that have completed need no exception, because
// kwok reports them as ready.
func isNotReady(status corev1.ContainerStatus) bool { return !status.Ready }

func isTrue(conditions []corev1.PodCondition, name corev1.PodConditionType) bool {
	return slices.ContainsFunc(conditions, func(c corev1.PodCondition) bool {
		return c.Type == name && c.Status == corev1.ConditionTrue
	})
}

// SetCondition sets a condition. The condition gets the reason only if it is False.
func SetCondition(status *corev1.PodStatus, name corev1.PodConditionType, is bool, reason string) {
	value := corev1.ConditionFalse
	if is {
		value, reason = corev1.ConditionTrue, ""
	}
	i := slices.IndexFunc(status.Conditions, func(c corev1.PodCondition) bool { return c.Type == name })
	if i < 0 {
		i, status.Conditions = len(status.Conditions), append(status.Conditions, corev1.PodCondition{Type: name})
	}
	if condition := &status.Conditions[i]; condition.Status != value {
		condition.Status, condition.Reason, condition.LastTransitionTime = value, reason, metav1.Now()
	}
}
