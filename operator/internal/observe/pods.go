package observe

import (
	"regexp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Pod is the state of a memcached Pod.
type Pod struct {
	Name  string
	Ready bool

	// Unresponsive: memcached runs and fails its readiness probe.
	Unresponsive bool

	// Unschedulable: the scheduler found no Node for the Pod.
	Unschedulable bool

	// Ports are the ports that other Pods can reach.
	Ports names.Ports

	// Problem is why the Pod does not become ready, as Kubernetes reports it; empty if nothing prevents that. It is
	// stable while the problem lasts: no times, no counts, no names of Pods.
	Problem string
}

// PodIndex finds the Pods of a Memcached by its name. A namespace may hold thousands of others.
const PodIndex = "memcached"

// MemcachedOf returns the name of the Memcached to which a trimmed Pod belongs, or "".
func MemcachedOf(pod client.Object) string { return pod.GetLabels()[names.LabelInstance] }

// memcachedOf returns the name of the Memcached to which a Pod belongs. Labels alone do not decide, because any
// client may set them: the Pod's controller must be a ReplicaSet of the Memcached's Deployment. The Deployment
// controller names ReplicaSets after the Deployment and the hash of their template.
func memcachedOf(pod *corev1.Pod) string {
	instance, controller := pod.Labels[names.LabelInstance], metav1.GetControllerOfNoCopy(pod)
	if controller != nil && controller.Name == "" {
		return instance // It is trimmed already: that may happen twice on the way into the cache.
	}
	if controller == nil || controller.Kind != "ReplicaSet" ||
		controller.APIVersion != appsv1.SchemeGroupVersion.String() ||
		controller.Name != instance+"-"+pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey] {
		return ""
	}
	return instance
}

// trimmedController is the controller of all trimmed Pods that belong to a Memcached. The API server rejects a
// controller without a name, so no real Pod has it.
var trimmedController = []metav1.OwnerReference{{Controller: new(true)}}

// podsOf returns the state of the Pods, sorted by name, without those that are terminating or have ended, such as
// evicted ones.
func podsOf(list []corev1.Pod) []Pod {
	var pods []Pod
	for i := range list {
		pod := &list[i]
		if pod.DeletionTimestamp.IsZero() && !hasEnded(pod) {
			pods = append(pods, Pod{
				Name: pod.Name, Ready: isTrue(pod, corev1.PodReady), Unresponsive: isUnresponsive(pod),
				Unschedulable: isUnschedulable(pod), Ports: portsOf(&pod.Spec), Problem: problemOf(pod),
			})
		}
	}
	slices.SortFunc(pods, func(a, b Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods
}

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// openPorts returns the ports of all Pods that have not ended. A terminating Pod still answers for a while.
func openPorts(pods []corev1.Pod) names.Ports {
	var open names.Ports
	for i := range pods {
		if !hasEnded(&pods[i]) {
			open |= portsOf(&pods[i].Spec)
		}
	}
	return open
}

func oldest(pods []corev1.Pod) time.Time {
	var oldest time.Time
	for i := range pods {
		made := pods[i].CreationTimestamp.Time
		if !hasEnded(&pods[i]) && (oldest.IsZero() || made.Before(oldest)) {
			oldest = made
		}
	}
	return oldest
}

func progressed(pods []corev1.Pod) time.Time {
	var last time.Time
	for i := range pods {
		ready := podCondition(&pods[i], corev1.PodReady)
		if ready != nil && ready.Status == corev1.ConditionTrue && ready.LastTransitionTime.After(last) {
			last = ready.LastTransitionTime.Time
		}
	}
	return last
}

func isUnresponsive(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(status corev1.ContainerStatus) bool {
		return status.Name == names.Container && !status.Ready && status.State.Running != nil
	})
}

func isTrue(pod *corev1.Pod, conditionType corev1.PodConditionType) bool {
	condition := podCondition(pod, conditionType)
	return condition != nil && condition.Status == corev1.ConditionTrue
}

func podCondition(pod *corev1.Pod, conditionType corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == conditionType {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// CanNotBeScheduled begins the problem of an unschedulable Pod.
const CanNotBeScheduled = "cannot be scheduled: "

func isUnschedulable(pod *corev1.Pod) bool {
	scheduled := podCondition(pod, corev1.PodScheduled)
	return scheduled != nil && scheduled.Status == corev1.ConditionFalse &&
		scheduled.Reason == corev1.PodReasonUnschedulable
}

func problemOf(pod *corev1.Pod) string {
	if isUnschedulable(pod) {
		return CanNotBeScheduled + OneLine(podCondition(pod, corev1.PodScheduled).Message)
	}
	for _, containers := range [][]corev1.ContainerStatus{
		pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses,
	} {
		for i := range containers {
			if found := containerProblem(pod, &containers[i]); found != "" {
				return found
			}
		}
	}
	return ""
}

// randomPodName matches the name of a rejected Pod, which differs with each attempt.
var randomPodName = regexp.MustCompile(`(?i)pods? "[^"]+" is (forbidden|invalid): `)

// OneLine removes line breaks, and the random names of rejected Pods, from a message of Kubernetes.
func OneLine(message string) string {
	return strings.Join(strings.Fields(randomPodName.ReplaceAllString(message, "")), " ")
}

// TrimPod returns a function that keeps only what the type Pod is made from, before a Pod is cached: ten thousand
// caches have many Pods. With slots it keeps more of Pods that need one.
func TrimPod(withSlots bool) func(object any) (any, error) {
	return func(object any) (any, error) {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return object, nil
		}
		trimmed := trimPod(pod)
		if withSlots && isGated(pod) {
			keepSlot(trimmed, pod)
		}
		return trimmed, nil
	}
}

func trimPod(pod *corev1.Pod) *corev1.Pod {
	trimmed := &corev1.Pod{}
	trimmed.Name, trimmed.Namespace, trimmed.UID = pod.Name, pod.Namespace, pod.UID
	trimmed.ResourceVersion, trimmed.CreationTimestamp = pod.ResourceVersion, pod.CreationTimestamp
	trimmed.DeletionTimestamp = pod.DeletionTimestamp
	if instance := memcachedOf(pod); instance != "" {
		trimmed.Labels = map[string]string{names.LabelInstance: instance}
		trimmed.OwnerReferences = trimmedController
	}
	trimmed.Spec.Containers = declared[portsOf(&pod.Spec)]
	trimmed.Status.Phase = pod.Status.Phase
	trimmed.Status.Conditions = relevantConditions(pod)
	trimmed.Status.InitContainerStatuses = notReady(pod.Status.InitContainerStatuses)
	trimmed.Status.ContainerStatuses = notReady(pod.Status.ContainerStatuses)
	if len(trimmed.Status.InitContainerStatuses)+len(trimmed.Status.ContainerStatuses) > 0 {
		trimmed.Spec.ImagePullSecrets = pod.Spec.ImagePullSecrets
	}
	return trimmed
}

// relevantConditions returns the relevant conditions: that a Pod is ready, and since when, or that it is unschedulable.
func relevantConditions(pod *corev1.Pod) []corev1.PodCondition {
	var kept []corev1.PodCondition
	if ready := podCondition(pod, corev1.PodReady); ready != nil {
		kept = []corev1.PodCondition{{
			Type: corev1.PodReady, Status: ready.Status, LastTransitionTime: ready.LastTransitionTime,
		}}
	}
	if isUnschedulable(pod) {
		kept = append(kept, *podCondition(pod, corev1.PodScheduled))
	}
	return kept
}

func notReady(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for _, status := range statuses {
		if !status.Ready {
			kept = append(kept, corev1.ContainerStatus{
				Name: status.Name, Image: status.Image,
				State: status.State, LastTerminationState: status.LastTerminationState,
			})
		}
	}
	return kept
}

// PodChanged reports whether an update of a Pod changes the result of podsOf, or what decides about its slot.
func PodChanged(before, after *corev1.Pod) bool {
	old, now := podsOf([]corev1.Pod{*before}), podsOf([]corev1.Pod{*after})
	return !slices.Equal(old, now) || isGated(after) && slotPod(before) != slotPod(after)
}
