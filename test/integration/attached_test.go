package integration

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestWhatOthersAttachedToWhatTheOperatorRemovesGoesToo: another client adds a mount of the operator's volume, or a
// variable to the agent. If the operator removed only the part that it owns, the API server would refuse the
// Deployment, and no change to the cache would ever be applied.
func TestWhatOthersAttachedToWhatTheOperatorRemovesGoesToo(t *testing.T) {
	const agent = `{"spec":{"template":{"spec":{"initContainers":[{"name":"agent",%s}]}}}}`
	tests := map[string]struct {
		added, spec string
		want        []string // containers and their mounts, and volumes
		event       string
	}{
		"a mount of the volume of slots": {
			added: `"volumeMounts":[{"name":"handoff","mountPath":"/mnt/copy","readOnly":true}]`,
			spec:  `{"slots":null,"threads":2}`,
			want:  []string{"agent", "memcached"},
			event: `; also removed, because another client had added it to a removed field: \..*\[mountPath="/mnt/copy"\]`,
		},
		"a variable of the agent's container": {
			added: `"env":[{"name":"TEAM","value":"shop"}]`,
			spec:  `{"slots":null,"metrics":{"mode":"Disabled"}}`,
			want:  []string{"memcached"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newSlotWorld(t)
			w.memcachedWithSlots("cache", 1, cachev1.SlotsDNS)
			w.changedBy("kubectl-edit", &appsv1.Deployment{}, fmt.Sprintf(agent, tc.added))
			w.ready("cache")

			w.patchSpec(tc.spec)

			eventually(w.world, "cache", &appsv1.Deployment{}, func(d *appsv1.Deployment) bool {
				return len(d.Spec.Template.Spec.Volumes) == 0
			})
			w.ready("cache")
			pod := get(w.world, "cache", &appsv1.Deployment{}).Spec.Template.Spec
			if diff := cmp.Diff(tc.want, partsOf(pod)); diff != "" {
				t.Errorf("parts of the Pods (-want +got):\n%s", diff)
			}
			w.Eventually(func() []string { return w.notes("Updated") }).Should(gomega.ContainElement(gomega.MatchRegexp(tc.event)))
		})
	}
}

// TestNothingOfOthersIsRemovedForAnotherRefusal: the API server refuses the Deployment for another reason, so removing
// the other client's mount would not help.
func TestNothingOfOthersIsRemovedForAnotherRefusal(t *testing.T) {
	w := newSlotWorld(t)
	w.memcachedWithSlots("cache", 1, cachev1.SlotsDNS)
	const limits = `{"name":"memcached","resources":{"limits":{"cpu":%s}}}`
	w.changedBy("kubectl-edit", &appsv1.Deployment{}, fmt.Sprintf(`{"spec":{"template":{"spec":{
		"initContainers":[{"name":"agent","volumeMounts":[{"name":"handoff","mountPath":"/mnt/copy","readOnly":true}]}],
		"containers":[%s]}}}}`, fmt.Sprintf(limits, `"100m"`)))
	w.ready("cache")
	before := get(w.world, "cache", &appsv1.Deployment{}).Generation

	w.patchSpec(`{"slots":null,"threads":2,"resources":{"requests":{"cpu":"500m"}}}`)

	w.reason("cache", cachev1.ReasonInvalidSpec)
	w.quiet()
	if after := get(w.world, "cache", &appsv1.Deployment{}).Generation; after != before {
		t.Errorf("the Deployment has generation %d, and had %d", after, before)
	}
	w.changedBy("kubectl-edit", &appsv1.Deployment{}, fmt.Sprintf(
		`{"spec":{"template":{"spec":{"containers":[%s]}}}}`, fmt.Sprintf(limits, "null")))
	w.ready("cache")
	if diff := cmp.Diff([]string{"agent", "memcached"}, partsOf(
		get(w.world, "cache", &appsv1.Deployment{}).Spec.Template.Spec,
	)); diff != "" {
		t.Errorf("parts of the Pods (-want +got):\n%s", diff)
	}
}

// partsOf lists the containers of a Pod with their mounts, and its volumes.
func partsOf(pod corev1.PodSpec) (names []string) {
	for _, container := range append(pod.InitContainers, pod.Containers...) {
		names = append(names, container.Name)
		for _, mount := range container.VolumeMounts {
			names = append(names, mount.Name+" at "+mount.MountPath)
		}
	}
	for _, volume := range pod.Volumes {
		names = append(names, volume.Name)
	}
	return names
}
