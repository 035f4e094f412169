package cached

// The memory of memcached's container.

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Memory is the memory of a container, in bytes; zero if that is unknown.
type Memory struct{ Request, Limit int64 }

// MemoryOf returns the memory that memcached's container is to have, and the memory that it has.
func MemoryOf(pod *corev1.Pod) (shall, has Memory) {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == names.Container {
			shall = memoryOf(&pod.Spec.Containers[i].Resources)
		}
	}
	if resources := Container(pod.Status.ContainerStatuses, names.Container).Resources; resources != nil {
		has = memoryOf(resources)
	}
	return shall, has
}

// NotResized returns the condition that says why a Pod is not resized: its Node has no room, or the resize failed. It
// is nil if there is no such condition.
func NotResized(pod *corev1.Pod) *corev1.PodCondition {
	if waits := Condition(pod, corev1.PodResizePending); waits != nil && waits.Status == corev1.ConditionTrue {
		return waits
	}
	if fails := Condition(pod, corev1.PodResizeInProgress); fails != nil && fails.Reason == corev1.PodReasonError {
		return fails
	}
	return nil
}

func memoryOf(resources *corev1.ResourceRequirements) Memory {
	return Memory{Request: resources.Requests.Memory().Value(), Limit: resources.Limits.Memory().Value()}
}

func (m Memory) isZero() bool { return m == Memory{} }

// Requirements are the requests and limits of a container with the memory.
func (m Memory) Requirements() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: memoryList(m.Request), Limits: memoryList(m.Limit)}
}

func memoryList(bytes int64) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceMemory: *resource.NewQuantity(bytes, resource.BinarySI)}
}

func withMemory(m Memory) corev1.Container {
	return corev1.Container{Name: names.Container, Resources: m.Requirements()}
}
