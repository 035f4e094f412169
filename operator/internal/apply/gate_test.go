package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

func TestTheGateOfSlotsIsRemovedFromADeploymentWithoutSlots(t *testing.T) {
	gates := func(types ...corev1.PodConditionType) (gates []corev1.PodReadinessGate) {
		for _, conditionType := range types {
			gates = append(gates, corev1.PodReadinessGate{ConditionType: conditionType})
		}
		return gates
	}
	tests := map[string]struct {
		there []corev1.PodReadinessGate
		times int
		want  []string
		patch string
	}{
		"if another client set it": {
			there: gates("example.com/one", names.HasSlot), times: 1, want: []string{"patch"},
			patch: `[{"op":"replace","path":"/metadata/resourceVersion","value":"7"},` +
				`{"op":"remove","path":"/spec/template/spec/readinessGates/1"}]`,
		},
		"three times, if another client keeps setting it": {
			there: gates(names.HasSlot), times: 5, want: []string{"patch", "patch", "patch"},
			patch: `[{"op":"replace","path":"/metadata/resourceVersion","value":"7"},` +
				`{"op":"remove","path":"/spec/template/spec/readinessGates/0"}]`,
		},
		"but other gates stay": {there: gates("example.com/one"), times: 1},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			live := liveAs(t, stamped(t, planned(t, nil)))
			live.Spec.Template.Spec.ReadinessGates = tc.there
			server := &stub{there: &appsv1.Deployment{}}
			syncer := NewSyncer(server, server, clientgoscheme.Scheme, nil)
			for range tc.times {
				syncer.syncDeployment(t, live)
			}
			if diff := cmp.Diff(tc.want, server.asked); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.patch, server.patch); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
		})
	}
}
