package kubelet

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// resize gives the containers of a Pod the resources of its spec, unless a fault refuses that.
func (k *Kubelet) resize(pod *corev1.Pod) {
	resized := pod.DeepCopy()
	resized.Status.Conditions = slices.DeleteFunc(resized.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodResizePending
	})
	Resize(resized)
	i := slices.IndexFunc(k.faults, func(f *Fault) bool { return f.refusesResizes() && f.isOf(pod) })
	if i < 0 || !differ(pod.Status.ContainerStatuses, resized.Status.ContainerStatuses) {
		pod.Status = resized.Status
		return
	}
	if k.faults[i].Kind == Halfway {
		pod.Status = halfway(pod.Status, resized.Status)
	} else {
		RefuseResize(pod, k.faults[i].Kind, "the campaign refused it")
	}
	k.faults[i].Struck()
}

// halfway gives containers their new requests, and keeps their old limits.
func halfway(before, after corev1.PodStatus) corev1.PodStatus {
	for i := range before.ContainerStatuses {
		if had := before.ContainerStatuses[i].Resources; had != nil {
			after.ContainerStatuses[i].Resources.Limits = had.Limits
		}
	}
	return after
}

// ItemMemory returns how many bytes memcached in a Pod has for items: as the operator's instruction says or, if it does
// not say this, as memcached's arguments say.
func ItemMemory(pod *corev1.Pod) int64 {
	var instruction struct{ Memory int64 }
	if json.Unmarshal([]byte(pod.Annotations[annotation]), &instruction) == nil && instruction.Memory > 0 {
		return instruction.Memory
	}
	for _, argument := range pod.Spec.Containers[0].Args {
		if limit, found := strings.CutPrefix(argument, "--memory-limit="); found {
			mebibytes, _ := strconv.ParseInt(limit, 10, 64)
			return mebibytes << 20
		}
	}
	return 0
}

// differ reports whether containers had other resources before.
func differ(before, after []corev1.ContainerStatus) bool {
	for i := range before {
		if had := before[i].Resources; had != nil && !equality.Semantic.DeepEqual(had, after[i].Resources) {
			return true
		}
	}
	return false
}

// Resize gives the containers of a Pod the resources of its spec, without a restart, as a kubelet does if its Node has
// room.
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

// ResourcesOf returns the resources of memcached's container in the status or, until the status reports them, in the
// spec.
func ResourcesOf(pod *corev1.Pod) *corev1.ResourceRequirements {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == "memcached" && status.Resources != nil {
			return status.Resources
		}
	}
	return pod.Spec.Containers[0].Resources.DeepCopy()
}

// RefuseResize makes the status say why a Pod keeps its old resources: Deferred or Infeasible.
func RefuseResize(pod *corev1.Pod, reason, message string) {
	SetCondition(&pod.Status, corev1.PodResizePending, true, "")
	for i := range pod.Status.Conditions {
		if condition := &pod.Status.Conditions[i]; condition.Type == corev1.PodResizePending {
			condition.Reason, condition.Message = reason, message
		}
	}
}
