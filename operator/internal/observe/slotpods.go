package observe

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

// isGated reports whether a Pod becomes ready only with a slot.
func isGated(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.ReadinessGates, func(gate corev1.PodReadinessGate) bool {
		return gate.ConditionType == names.HasSlot
	})
}

// slotPod returns what decides about the slot of a Pod. A Pod without the gate takes no part.
func slotPod(pod *corev1.Pod) slots.Pod {
	if !isGated(pod) {
		return slots.Pod{
			Name: pod.Name, UID: string(pod.UID), Terminating: pod.DeletionTimestamp != nil, Ended: hasEnded(pod),
		}
	}
	order, err := instruction.Decode(pod.Annotations[names.AnnotationHandoff])
	if err != nil {
		order.Role = slots.Unknown
	}
	cost, _ := strconv.ParseInt(pod.Annotations[corev1.PodDeletionCost], 10, 32)
	memcached := containerStatus(pod.Status.ContainerStatuses, names.Container)
	agent := containerStatus(pod.Status.InitContainerStatuses, names.Agent)
	return slots.Pod{
		Name: pod.Name, UID: string(pod.UID), IP: pod.Status.PodIP, Created: pod.CreationTimestamp.UTC(),
		Hash: pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey], Gated: true,
		Terminating: pod.DeletionTimestamp != nil, Ended: hasEnded(pod),
		MemcachedReady: memcached.Ready, AgentReady: agent.Ready,
		Ready: isTrue(pod, corev1.PodReady), GateTrue: isTrue(pod, names.HasSlot),
		Cost: int32(cost), Instruction: order.Normal(), Failure: failureOf(agent),
	}
}

func containerStatus(statuses []corev1.ContainerStatus, name string) corev1.ContainerStatus {
	for i := range statuses {
		if statuses[i].Name == name {
			return statuses[i]
		}
	}
	return corev1.ContainerStatus{}
}

// failureOf returns the last failed copy of an agent.
func failureOf(agent corev1.ContainerStatus) slots.Failure {
	for _, ended := range []*corev1.ContainerStateTerminated{
		agent.State.Terminated, agent.LastTerminationState.Terminated,
	} {
		if ended != nil && ended.ExitCode == instruction.ExitCode {
			failure, _ := instruction.DecodeFailure(ended.Message)
			return slots.Failure{At: ended.FinishedAt.UTC(), Reason: failure.Reason}
		}
	}
	return slots.Failure{}
}

// keepSlot adds to a trimmed Pod what slotPod reads.
func keepSlot(trimmed, pod *corev1.Pod) {
	if trimmed.Labels == nil {
		return // It belongs to no Memcached.
	}
	trimmed.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	for _, name := range []string{names.AnnotationHandoff, corev1.PodDeletionCost} {
		if value, found := pod.Annotations[name]; found {
			if trimmed.Annotations == nil {
				trimmed.Annotations = map[string]string{}
			}
			trimmed.Annotations[name] = value
		}
	}
	trimmed.Spec.NodeName, trimmed.Spec.ReadinessGates = pod.Spec.NodeName, onlyGate
	trimmed.Status.PodIP = pod.Status.PodIP
	if gate := podCondition(pod, names.HasSlot); gate != nil {
		kept := corev1.PodCondition{Type: gate.Type, Status: gate.Status}
		trimmed.Status.Conditions = append(trimmed.Status.Conditions, kept)
	}
	trimmed.Status.InitContainerStatuses = withReadiness(pod.Status.InitContainerStatuses, names.Agent)
	trimmed.Status.ContainerStatuses = withReadiness(pod.Status.ContainerStatuses, names.Container)
}

var onlyGate = []corev1.PodReadinessGate{{ConditionType: names.HasSlot}}

// withReadiness returns the statuses of containers that are not ready, and of the named one in any case.
func withReadiness(statuses []corev1.ContainerStatus, name string) []corev1.ContainerStatus {
	kept := notReady(statuses)
	if status := containerStatus(statuses, name); status.Ready {
		kept = append(kept, corev1.ContainerStatus{
			Name: name, Ready: true, LastTerminationState: status.LastTerminationState,
		})
	}
	return kept
}

// TrimNode keeps what a cordon changes.
func TrimNode(object any) (any, error) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return object, nil
	}
	trimmed := &corev1.Node{}
	trimmed.Name, trimmed.UID, trimmed.ResourceVersion = node.Name, node.UID, node.ResourceVersion
	trimmed.Spec.Unschedulable = node.Spec.Unschedulable
	return trimmed, nil
}
