package pipeline

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWaitingIsWhyAPodDoesNotRun(t *testing.T) {
	waiting := func(reason, message string) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}}
	}
	tests := map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"an image can't be pulled":     {waiting("ErrImagePull", "not found"), "p: ErrImagePull: not found"},
		"a container is being created": {waiting("ContainerCreating", ""), ""},
		"it runs":                      {corev1.PodStatus{Phase: corev1.PodRunning}, ""},
		"it cannot be scheduled":       {corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "no node"}}}, "p: Unschedulable: no node"},
		"another condition is false":   {corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Message: "x"}}}, ""},
		"it is scheduled, not started": {corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: tc.status}
			if got := Waiting(pod); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestTheSecretIsMounted(t *testing.T) {
	for secret, want := range map[string]int{"": 0, "clients": 1} {
		pod, err := Clients{Secret: secret}.pod([]string{"get"})
		if err != nil {
			t.Fatal(err)
		}
		mounts := pod.Spec.Containers[0].VolumeMounts
		if len(pod.Spec.Volumes) != want || len(mounts) != want {
			t.Fatalf("volumes %v, mounts %v", pod.Spec.Volumes, mounts)
		}
		if want > 0 && (pod.Spec.Volumes[0].Secret.SecretName != secret || mounts[0].MountPath != SecretDir) {
			t.Errorf("volumes %v, mounts %v", pod.Spec.Volumes, mounts)
		}
	}
}
