package kubelet

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// bootstrapAnnotation is the annotation, as in the operator's documentation, with the instruction for a Pod that copies
// the keys of other servers.
const bootstrapAnnotation = "cache.example.com/bootstrap"

// IsBootstrap reports whether a Pod copies the keys of other servers.
func IsBootstrap(pod *corev1.Pod) bool {
	return strings.HasSuffix(pod.Labels["memcached_cr"], "_bootstrap")
}

// ReportBootstrap sets the container status of a Pod that copies the keys of other servers: the container has started
// once it has copied all keys, and is ready once clients may use both the cache and the other servers.
func ReportBootstrap(pod *corev1.Pod, copied bool) {
	phase := pod.Annotations[bootstrapAnnotation]
	started := phase != "" && copied
	status := corev1.ContainerStatus{Name: agent, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	if before := pod.Status.ContainerStatuses; len(before) > 0 && before[0].Name == agent {
		status = before[0]
	}
	status.Started, status.Ready = &started, started && (phase == "cutOver" || phase == "moved")
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
}
