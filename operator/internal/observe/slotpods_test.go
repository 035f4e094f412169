package observe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"

	"github.com/example-inc/memcached-operator/operator/internal/cached"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

var since = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

var gate = []corev1.PodReadinessGate{{ConditionType: names.HasSlot}}

// gatedPod returns a Pod that copies keys, after a failed attempt to copy them.
func gatedPod() *corev1.Pod {
	order := instruction.Instruction{Slot: "cache-1", Role: instruction.Receive, From: "10.0.0.9", Since: since}
	failed := &corev1.ContainerStateTerminated{
		ExitCode: instruction.ExitCode, FinishedAt: metav1.NewTime(since),
		Message: instruction.Failure{Reason: "FromUnreachable"}.Encode(),
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "cache-7f-a", Namespace: "team", UID: "uid-a", CreationTimestamp: metav1.NewTime(since),
			Labels: map[string]string{
				names.LabelInstance: "cache", appsv1.DefaultDeploymentUniqueLabelKey: "7f",
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "cache-7f", Controller: new(true),
			}},
			Annotations: map[string]string{
				names.AnnotationHandoff: order.Encode(), corev1.PodDeletionCost: "-50", "example.com/other": "yes",
			},
		},
		Spec: corev1.PodSpec{ReadinessGates: gate},
		Status: corev1.PodStatus{
			PodIP: "10.0.0.7", Phase: corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: names.HasSlot, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: names.Container, Ready: true,
			}},
			InitContainerStatuses: []corev1.ContainerStatus{{
				Name: names.Agent, Ready: true, LastTerminationState: corev1.ContainerState{Terminated: failed},
			}},
		},
	}
}

func TestWhatDecidesAboutASlotIsReadFromThePod(t *testing.T) {
	want := slots.Pod{
		Name: "cache-7f-a", UID: "uid-a", IP: "10.0.0.7", Created: since, Hash: "7f", Gated: true,
		MemcachedReady: true, AgentReady: true, GateTrue: true, Cost: -50,
		Instruction: instruction.Instruction{Slot: "cache-1", Role: instruction.Receive, From: "10.0.0.9", Since: since},
		Failure:     slots.Failure{At: since, Reason: "FromUnreachable"},
	}
	if diff := cmp.Diff(want, slotPod(gatedPod())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	deleted := gatedPod()
	deleted.DeletionTimestamp = &metav1.Time{Time: since}
	want.Terminating, want.Ends = true, since
	if diff := cmp.Diff(want, slotPod(deleted)); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
}

func TestATrimmedPodDecidesTheSame(t *testing.T) {
	for range 2 { // A Pod may be trimmed twice.
		once, _ := cached.TrimPod(gatedPod())
		twice, _ := cached.TrimPod(once)
		if diff := cmp.Diff(slotPod(gatedPod()), slotPod(twice.(*corev1.Pod))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestOfAPodWithoutTheGateNothingOfSlotsIsKept(t *testing.T) {
	pod := gatedPod()
	pod.Spec.ReadinessGates = nil
	trimmed, _ := cached.TrimPod(pod)
	if kept := trimmed.(*corev1.Pod); len(kept.Annotations) > 0 || len(kept.Labels) > 1 {
		t.Errorf("annotations %v, labels %v", kept.Annotations, kept.Labels)
	}
}

func FuzzATrimmedPodWithSlotsDecidesTheSame(f *testing.F) {
	f.Add([]byte("anything"))
	f.Fuzz(func(t *testing.T, input []byte) {
		pod := &corev1.Pod{}
		randfill.NewFromGoFuzz(input).Fill(pod)
		model := gatedPod()
		pod.Labels, pod.OwnerReferences, pod.Spec.ReadinessGates = model.Labels, model.OwnerReferences, gate
		trimmed, err := cached.TrimPod(pod.DeepCopy())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slotPod(pod), slotPod(trimmed.(*corev1.Pod))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if PodChanged(pod, trimmed.(*corev1.Pod)) {
			t.Error("a trimmed Pod counts as changed")
		}
	})
}
