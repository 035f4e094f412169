package cached

// Trims Pods.

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// TrimPod keeps only the fields from which observe.Pod is made, before a Pod is cached, because ten thousand caches
// have many Pods. It keeps more fields of a Pod that needs a slot.
func TrimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	trimmed := trimPod(pod)
	if IsGated(pod) {
		keepSlot(trimmed, pod)
	}
	if Ports(&pod.Spec).Has(names.DiscoveryPorts) {
		keepDiscovery(trimmed, pod)
	}
	if IsBootstrap(trimmed) {
		keepAnnotations(&trimmed.ObjectMeta, &pod.ObjectMeta, names.AnnotationBootstrap)
		trimmed.Status.ContainerStatuses = withReadiness(pod.Status.ContainerStatuses, names.Agent)
	}
	trimmed.Labels = shareMap(trimmed.Labels) // From here on, nothing may change them.
	return trimmed, nil
}

// trimmedController is the controller of all trimmed Pods that belong to a Memcached. The API server rejects a
// controller without a name, so no Pod in the cluster has this controller.
var trimmedController = []metav1.OwnerReference{{Controller: new(true)}}

func trimPod(pod *corev1.Pod) *corev1.Pod {
	trimmed := &corev1.Pod{}
	trimmed.Name, trimmed.Namespace, trimmed.UID = pod.Name, text(pod.Namespace), pod.UID
	trimmed.ResourceVersion, trimmed.CreationTimestamp = pod.ResourceVersion, pod.CreationTimestamp
	trimmed.DeletionTimestamp = pod.DeletionTimestamp
	if instance := MemcachedOf(pod); instance != "" {
		trimmed.Labels = map[string]string{names.LabelInstance: instance}
		trimmed.OwnerReferences = trimmedController
	}
	trimmed.Spec.Containers = declared[Ports(&pod.Spec)]
	trimmed.Status.Phase, trimmed.Status.PodIP = corev1.PodPhase(text(string(pod.Status.Phase))), pod.Status.PodIP
	trimmed.Status.Conditions = relevantConditions(pod)
	trimmed.Status.InitContainerStatuses = notReady(pod.Status.InitContainerStatuses)
	trimmed.Status.ContainerStatuses = notReady(pod.Status.ContainerStatuses)
	if len(trimmed.Status.InitContainerStatuses)+len(trimmed.Status.ContainerStatuses) > 0 {
		trimmed.Spec.ImagePullSecrets = pod.Spec.ImagePullSecrets
	}
	return trimmed
}

// relevantConditions returns the conditions that show whether a Pod is ready, and since when, or that it is
// unschedulable.
func relevantConditions(pod *corev1.Pod) []corev1.PodCondition {
	var kept []corev1.PodCondition
	if ready := Condition(pod, corev1.PodReady); ready != nil {
		kept = []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionStatus(text(string(ready.Status))),
			LastTransitionTime: ready.LastTransitionTime,
		}}
	}
	if IsUnschedulable(pod) {
		kept = append(kept, *Condition(pod, corev1.PodScheduled))
	}
	return kept
}

func notReady(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for _, status := range statuses {
		if !status.Ready {
			kept = append(kept, corev1.ContainerStatus{
				Name: status.Name, Image: status.Image, Started: status.Started,
				State: status.State, LastTerminationState: status.LastTerminationState,
			})
		}
	}
	return kept
}

// keepSlot adds the fields that observe.slotPod reads to a trimmed Pod.
func keepSlot(trimmed, pod *corev1.Pod) {
	if trimmed.Labels == nil {
		return // It belongs to no Memcached.
	}
	trimmed.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	keepAnnotations(&trimmed.ObjectMeta, &pod.ObjectMeta, names.AnnotationHandoff, corev1.PodDeletionCost)
	trimmed.Spec.ReadinessGates = onlyGate
	trimmed.Status.PodIP = pod.Status.PodIP
	if gate := Condition(pod, names.HasSlot); gate != nil {
		kept := corev1.PodCondition{Type: gate.Type, Status: gate.Status}
		trimmed.Status.Conditions = append(trimmed.Status.Conditions, kept)
	}
	trimmed.Status.InitContainerStatuses = withReadiness(pod.Status.InitContainerStatuses, names.Agent)
	trimmed.Status.ContainerStatuses = withReadiness(pod.Status.ContainerStatuses, names.Container)
	keepMemory(trimmed, pod)
}

// keepMemory adds to a trimmed Pod the memory that memcached's container is to have, the memory that it has, and why it
// is not resized.
func keepMemory(trimmed, pod *corev1.Pod) {
	shall, has := MemoryOf(pod)
	trimmed.Spec.Containers = append(slices.Clip(trimmed.Spec.Containers), withMemory(shall))
	for i := range trimmed.Status.ContainerStatuses {
		if status := &trimmed.Status.ContainerStatuses[i]; status.Name == names.Container && !has.isZero() {
			status.Resources = new(has.Requirements())
		}
	}
	if waits := NotResized(pod); waits != nil {
		trimmed.Status.Conditions = append(trimmed.Status.Conditions, corev1.PodCondition{
			Type: waits.Type, Status: waits.Status, Reason: waits.Reason, Message: waits.Message,
		})
	}
}

// keepDiscovery adds the fields that observe.discoveryPod reads to a trimmed Pod.
func keepDiscovery(trimmed, pod *corev1.Pod) {
	if trimmed.Labels == nil {
		return // It belongs to no Memcached.
	}
	if value, found := pod.Labels[names.LabelDiscovery]; found {
		trimmed.Labels[names.LabelDiscovery] = value
	}
	keepAnnotations(&trimmed.ObjectMeta, &pod.ObjectMeta, names.AnnotationDiscovery)
	trimmed.Status.PodIP = pod.Status.PodIP
}

func keepAnnotations(trimmed, whole *metav1.ObjectMeta, keys ...string) {
	for _, key := range keys {
		if value, found := whole.Annotations[key]; found {
			metav1.SetMetaDataAnnotation(trimmed, key, value)
		}
	}
}

var onlyGate = []corev1.PodReadinessGate{{ConditionType: names.HasSlot}}

// withReadiness returns the statuses of containers that are not ready, and always that of the named container.
func withReadiness(statuses []corev1.ContainerStatus, name string) []corev1.ContainerStatus {
	kept := notReady(statuses)
	if status := Container(statuses, name); status.Ready {
		kept = append(kept, corev1.ContainerStatus{
			Name: name, Ready: true, Started: status.Started, LastTerminationState: status.LastTerminationState,
		})
	}
	return kept
}

// declared has, for each set of ports, containers that declare these ports. Trimmed Pods share them, to save memory.
var declared = func() [names.AllPorts + 1][]corev1.Container {
	var containers [names.AllPorts + 1][]corev1.Container
	for set := range containers {
		for name, port := range PortsByName {
			if names.Ports(set).Has(port) {
				containers[set] = append(containers[set], corev1.Container{Ports: []corev1.ContainerPort{{Name: name}}})
			}
		}
	}
	return containers
}()
