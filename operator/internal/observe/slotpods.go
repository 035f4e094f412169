package observe

// The properties of a Pod from which its slot is decided.

import (
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/cached"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

// slotPod returns the state of a Pod on which the decision about its slot depends. A Pod without the readiness gate
// gets no slot.
func slotPod(pod *corev1.Pod) slots.Pod {
	if !cached.IsGated(pod) {
		return slots.Pod{
			Name: pod.Name, UID: string(pod.UID), Terminating: pod.DeletionTimestamp != nil, Ended: hasEnded(pod),
		}
	}
	order, err := instruction.Decode(pod.Annotations[names.AnnotationHandoff])
	if err != nil {
		order.Role = slots.Unknown
	}
	cost, _ := strconv.ParseInt(pod.Annotations[corev1.PodDeletionCost], 10, 32)
	memcached := cached.Container(pod.Status.ContainerStatuses, names.Container)
	agent := cached.Container(pod.Status.InitContainerStatuses, names.Agent)
	observed := slots.Pod{
		Name: pod.Name, UID: string(pod.UID), IP: pod.Status.PodIP, Created: pod.CreationTimestamp.UTC(),
		Hash: pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey], Gated: true,
		Terminating: pod.DeletionTimestamp != nil, Ends: endOf(pod), Ended: hasEnded(pod),
		Unschedulable: cached.IsUnschedulable(pod), MemcachedReady: memcached.Ready, AgentReady: agent.Ready,
		Ready: cached.IsTrue(pod, corev1.PodReady), GateTrue: cached.IsTrue(pod, names.HasSlot),
		Cost: int32(cost), Instruction: order.Normal(), Failure: slotFailure(agent),
	}
	shall, has := cached.MemoryOf(pod)
	observed.Container, observed.Actual = slots.Container(shall), slots.Container(has)
	if waits := cached.NotResized(pod); waits != nil {
		observed.ResizeRefused, observed.ResizeMessage = waits.Reason, waits.Message
	}
	return observed
}

// endOf returns when the kubelet kills a Pod at the latest; zero unless it terminates.
func endOf(pod *corev1.Pod) time.Time {
	if pod.DeletionTimestamp == nil {
		return time.Time{}
	}
	return pod.DeletionTimestamp.UTC()
}

// slotFailure returns the last failed copy of an agent.
func slotFailure(agent corev1.ContainerStatus) slots.Failure {
	failure, at := failureOf(agent)
	return slots.Failure{At: at, Reason: failure.Reason}
}

// failureOf returns the last failed copy of an agent, and when it failed; zero if none did.
func failureOf(agent corev1.ContainerStatus) (instruction.Failure, time.Time) {
	for _, ended := range []*corev1.ContainerStateTerminated{
		agent.State.Terminated, agent.LastTerminationState.Terminated,
	} {
		if ended != nil && ended.ExitCode == instruction.ExitCode {
			failure, _ := instruction.DecodeFailure(ended.Message)
			return failure, ended.FinishedAt.UTC()
		}
	}
	return instruction.Failure{}, time.Time{}
}
