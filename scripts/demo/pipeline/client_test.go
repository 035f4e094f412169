package pipeline

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWaitingIsWhyAPodDoesNotRun(t *testing.T) {
	waiting := func(reason, message string) corev1.PodStatus {
		state := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: state}}}
	}
	condition := func(kind corev1.PodConditionType, status corev1.ConditionStatus) corev1.PodStatus {
		return corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: kind, Status: status, Reason: "Unschedulable", Message: "no node"}}}
	}
	for name, tc := range map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"an image can't be pulled":     {waiting("ErrImagePull", "not found"), "p: ErrImagePull: not found"},
		"a container is being created": {waiting("ContainerCreating", ""), ""},
		"it cannot be scheduled":       {condition(corev1.PodScheduled, corev1.ConditionFalse), "p: Unschedulable: no node"},
		"another condition is false":   {condition(corev1.PodReady, corev1.ConditionFalse), ""},
		"it is scheduled, not started": {condition(corev1.PodScheduled, corev1.ConditionTrue), ""},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: tc.status}
		if got := Waiting(pod); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
