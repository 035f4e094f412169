package observe

// The state of a Pod: ready or not, and why it does not become ready.

import (
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/cached"
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

// PodIndex finds the Pods of a Memcached by its name. The namespace may have thousands of other Pods.
const PodIndex = "memcached"

// InstanceOf returns the name of the Memcached that the labels of a cached object name, or "". The cache removes the
// label from Pods that belong to no Memcached (cached.TrimPod).
func InstanceOf(object client.Object) string { return object.GetLabels()[names.LabelInstance] }

// podsOf returns the state of the Pods, sorted by name, without those that are terminating or have ended, such as
// evicted ones.
func podsOf(list []corev1.Pod) []Pod {
	var pods []Pod
	for i := range list {
		pod := &list[i]
		if pod.DeletionTimestamp.IsZero() && !hasEnded(pod) {
			pods = append(pods, Pod{
				Name: pod.Name, Ready: cached.IsTrue(pod, corev1.PodReady), Unresponsive: isUnresponsive(pod),
				Unschedulable: cached.IsUnschedulable(pod), Ports: cached.Ports(&pod.Spec), Problem: ProblemOf(pod),
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
			open |= cached.Ports(&pods[i].Spec)
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
		ready := cached.Condition(&pods[i], corev1.PodReady)
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

// CanNotBeScheduled is the beginning of the problem of an unschedulable Pod.
const CanNotBeScheduled = "cannot be scheduled: "

// ProblemOf returns why a Pod does not become ready (Pod.Problem).
func ProblemOf(pod *corev1.Pod) string {
	if cached.IsUnschedulable(pod) {
		return CanNotBeScheduled + OneLine(cached.Condition(pod, corev1.PodScheduled).Message)
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

// PodChanged reports whether an update of a Pod changes the result of podsOf, or the state on which its slot and its
// answers to clients depend.
func PodChanged(before, after *corev1.Pod) bool {
	old, now := podsOf([]corev1.Pod{*before}), podsOf([]corev1.Pod{*after})
	return !slices.Equal(old, now) || cached.IsGated(after) && slotPod(before) != slotPod(after) ||
		serves(after) && discoveryPod(before) != discoveryPod(after) ||
		cached.IsBootstrap(after) && bootstrapPod(before) != bootstrapPod(after)
}
