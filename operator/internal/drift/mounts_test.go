package drift

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// Managed fields of a Deployment's Pods.
const (
	pods       = `{"f:spec":{"f:template":{"f:spec":`
	agentOwned = pods + `{"f:volumes":{"k:{\"name\":\"handoff\"}":{".":{},"f:name":{}}},
  "f:initContainers":{"k:{\"name\":\"agent\"}":{".":{},"f:name":{},"f:image":{},
  "f:volumeMounts":{"k:{\"mountPath\":\"/run/handoff\"}":{".":{},"f:mountPath":{},"f:name":{}}}}}}}}}`
	mountAdded = pods + `{"f:initContainers":{"k:{\"name\":\"agent\"}":{
  "f:volumeMounts":{"k:{\"mountPath\":\"/mnt/copy\"}":{".":{},"f:mountPath":{},"f:name":{}}}}}}}}}`
)

func TestDanglingMounts(t *testing.T) {
	agent := corev1ac.Container().WithName("agent").WithImage("agent:1")
	volume := corev1ac.Volume().WithName("handoff")
	mount := Attached{
		`.spec.template.spec.initContainers[name="agent"].volumeMounts[mountPath="/mnt/copy"]`,
		"/spec/template/spec/initContainers/0/volumeMounts/1",
	}
	tests := map[string]struct {
		wanted *corev1ac.PodSpecApplyConfiguration
		added  corev1.VolumeMount
		others string // managed fields of another client
		want   []Attached
	}{
		"a mount of a volume that stays": {
			corev1ac.PodSpec().WithInitContainers(agent).WithVolumes(volume),
			corev1.VolumeMount{Name: "handoff", MountPath: "/mnt/copy"}, mountAdded, nil,
		},
		"a mount of a volume that goes": {
			corev1ac.PodSpec().WithInitContainers(agent),
			corev1.VolumeMount{Name: "handoff", MountPath: "/mnt/copy"}, mountAdded, []Attached{mount},
		},
		"a mount that no client is known to have added": {
			corev1ac.PodSpec().WithInitContainers(agent),
			corev1.VolumeMount{Name: "handoff", MountPath: "/mnt/copy"}, `{}`, []Attached{mount},
		},
		"a mount of another client's volume": {
			corev1ac.PodSpec().WithInitContainers(agent),
			corev1.VolumeMount{Name: "other", MountPath: "/mnt/copy"}, mountAdded, nil,
		},
		"a mount of a volume that another client applies, too": {
			corev1ac.PodSpec().WithInitContainers(agent),
			corev1.VolumeMount{Name: "handoff", MountPath: "/mnt/copy"}, agentOwned, nil,
		},
		"a mount in a container that goes": {
			corev1ac.PodSpec(), corev1.VolumeMount{Name: "other", MountPath: "/mnt/copy"}, mountAdded, nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			live := &appsv1.Deployment{}
			live.ManagedFields = []metav1.ManagedFieldsEntry{byUs(agentOwned), written("kubectl-edit", "Update", 1, tc.others)}
			live.Spec.Template.Spec = corev1.PodSpec{
				InitContainers: []corev1.Container{{
					Name: "agent", Image: "agent:1",
					VolumeMounts: []corev1.VolumeMount{{Name: "handoff", MountPath: "/run/handoff"}, tc.added},
				}},
				Volumes: []corev1.Volume{{Name: "handoff"}},
			}
			wanted := appsv1ac.Deployment("cache", "team").WithSpec(appsv1ac.DeploymentSpec().
				WithTemplate(corev1ac.PodTemplateSpec().WithSpec(tc.wanted)))
			mounts, err := DanglingMounts(live, wanted)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, mounts); diff != "" {
				t.Errorf("mounts (-want +got):\n%s", diff)
			}
		})
	}
}
