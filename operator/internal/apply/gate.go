package apply

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// removeGate removes the operator's readiness gate from a Deployment without slots. An apply keeps the gate if another
// field manager owns it, too: for example, a client that created the Deployment from a copy which was made while the
// Deployment had slots. With the gate, no Pod would ever become ready, because the operator opens the gate of a Pod
// only if it has a slot.
func (s *Syncer) removeGate(ctx context.Context, live client.Object, object render.Object) (Outcome, error) {
	pointer, found := undesiredGate(live, object)
	owner := types.UID(string(live.GetUID()) + pointer) // The removal of a gate is no write of the desired state.
	wait := s.conflicts.wait(owner, pointer)
	if !found || wait > 0 {
		return Outcome{Result: Unchanged, RetryAfter: wait}, nil
	}
	s.conflicts.note(owner, pointer)
	answer, err := s.removeFields(ctx, live, object.GroupKind, []string{pointer})
	if err != nil {
		return Outcome{}, err
	}
	field := ".spec.template.spec.readinessGates"
	return Outcome{Result: Updated, Fields: []string{field}, Generation: answer.GetGeneration()}, nil
}

// undesiredGate returns the JSON pointer of a readiness gate that is not desired.
func undesiredGate(live client.Object, object render.Object) (pointer string, found bool) {
	deployment, ok := live.(*appsv1.Deployment)
	wanted, isToo := object.Configuration.(*appsv1ac.DeploymentApplyConfiguration)
	if !ok || !isToo || wanted.Spec.Template == nil || len(wanted.Spec.Template.Spec.ReadinessGates) > 0 {
		return "", false
	}
	number := slices.IndexFunc(deployment.Spec.Template.Spec.ReadinessGates, func(gate corev1.PodReadinessGate) bool {
		return gate.ConditionType == names.HasSlot
	})
	return fmt.Sprintf("/spec/template/spec/readinessGates/%d", number), number >= 0
}
