package clientpod

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWaitingSaysWhyAPodDoesNotRun(t *testing.T) {
	waiting := func(reason, message string) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}}
	}
	tests := map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"an image can't be pulled":        {waiting("ErrImagePull", "not found"), "p: ErrImagePull: not found"},
		"a container is just being made":  {waiting("ContainerCreating", ""), ""},
		"it runs":                         {corev1.PodStatus{Phase: corev1.PodRunning}, ""},
		"no node takes it":                {corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "no node"}}}, "p: Unschedulable: no node"},
		"another condition says no":       {corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Message: "x"}}}, ""},
		"it is scheduled and not started": {corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}}, ""},
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

func TestAPodFindsItsSecret(t *testing.T) {
	if pod := (Client{}).pod(nil); len(pod.Spec.Volumes) > 0 || len(pod.Spec.Containers[0].VolumeMounts) > 0 {
		t.Errorf("without a Secret there are %v", pod.Spec.Volumes)
	}
	pod := Client{Secret: "clients"}.pod(nil)
	mounts := pod.Spec.Containers[0].VolumeMounts
	if len(pod.Spec.Volumes) != 1 || pod.Spec.Volumes[0].Secret.SecretName != "clients" ||
		len(mounts) != 1 || mounts[0].Name != pod.Spec.Volumes[0].Name || mounts[0].MountPath != "/secret" {
		t.Errorf("volumes %v, mounts %v", pod.Spec.Volumes, mounts)
	}
}
