package kubelet

import corev1 "k8s.io/api/core/v1"

// Resize gives the containers of a Pod the resources of its spec, as a kubelet on a Node with room does without a
// restart.
func Resize(pod *corev1.Pod) {
	if isTrue(pod.Status.Conditions, corev1.PodResizePending) {
		return
	}
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		for j := range pod.Spec.Containers {
			if container := &pod.Spec.Containers[j]; container.Name == status.Name && status.State.Running != nil {
				status.Resources = container.Resources.DeepCopy()
			}
		}
	}
}

// RefuseResize says why a Pod keeps the resources that it has: Deferred or Infeasible.
func RefuseResize(pod *corev1.Pod, reason, message string) {
	SetCondition(&pod.Status, corev1.PodResizePending, true, "")
	for i := range pod.Status.Conditions {
		if condition := &pod.Status.Conditions[i]; condition.Type == corev1.PodResizePending {
			condition.Reason, condition.Message = reason, message
		}
	}
}
