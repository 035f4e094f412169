package cached

// Reads a Pod, with the same result whether it is trimmed or not.

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// MemcachedOf returns the name of the Memcached to which a Pod belongs. Labels alone do not show this, because any
// client may set them. The Pod's controller must also be a ReplicaSet of the Memcached's Deployment. The Deployment
// controller names ReplicaSets after the Deployment and the hash of their template. The result has a suffix if the Pod
// is the one that copies the keys of other servers (names.BootstrapInstance).
func MemcachedOf(pod *corev1.Pod) string {
	instance, controller := pod.Labels[names.LabelInstance], metav1.GetControllerOfNoCopy(pod)
	if controller != nil && controller.Name == "" {
		return instance // The Pod is trimmed already: this may be called twice for a Pod that is cached.
	}
	if controller == nil || controller.Kind != "ReplicaSet" ||
		controller.APIVersion != appsv1.SchemeGroupVersion.String() ||
		controller.Name != names.DeploymentOf(instance)+"-"+pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey] {
		return ""
	}
	return instance
}

// Condition returns a condition of a Pod, or nil.
func Condition(pod *corev1.Pod, conditionType corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == conditionType {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// IsTrue reports whether a condition of a Pod is true. A missing condition is not true.
func IsTrue(pod *corev1.Pod, conditionType corev1.PodConditionType) bool {
	condition := Condition(pod, conditionType)
	return condition != nil && condition.Status == corev1.ConditionTrue
}

// IsUnschedulable reports whether the scheduler found no Node for a Pod.
func IsUnschedulable(pod *corev1.Pod) bool {
	scheduled := Condition(pod, corev1.PodScheduled)
	return scheduled != nil && scheduled.Status == corev1.ConditionFalse &&
		scheduled.Reason == corev1.PodReasonUnschedulable
}

// IsGated reports whether a Pod becomes ready only with a slot.
func IsGated(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.ReadinessGates, func(gate corev1.PodReadinessGate) bool {
		return gate.ConditionType == names.HasSlot
	})
}

// IsBootstrap reports whether a Pod copies the keys of other servers.
func IsBootstrap(pod *corev1.Pod) bool {
	instance := pod.Labels[names.LabelInstance]
	return names.MemcachedOf(instance) != instance
}

// Container returns the status of a container, or an empty one.
func Container(statuses []corev1.ContainerStatus, name string) corev1.ContainerStatus {
	for i := range statuses {
		if statuses[i].Name == name {
			return statuses[i]
		}
	}
	return corev1.ContainerStatus{}
}

// PortsByName are the ports, by the names under which containers declare them.
var PortsByName = map[string]names.Ports{
	names.Port: names.PlaintextPort, names.TLSPort: names.EncryptedPort, names.MetricsPort: names.AgentMetricsPort,
	names.DiscoveryPort: names.DiscoveryPorts, names.DiscoveryTLSPort: names.DiscoveryPorts,
}

// Ports returns the ports that the containers of a Pod declare: those that other Pods can reach.
func Ports(pod *corev1.PodSpec) names.Ports {
	var ports names.Ports
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			for _, port := range containers[i].Ports {
				ports |= PortsByName[port.Name]
			}
		}
	}
	return ports
}
