package apply

// Pauses and resumes a rollout.

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// Pause pauses the Deployment, which stops its rollout. A separate field manager sets spec.paused, so the operator's
// other fields stay unchanged, and a pause ends when the operator applies an empty configuration as that manager.
func (s *Syncer) Pause(ctx context.Context, mc *cachev1.Memcached, snapshot observe.Snapshot) Report {
	deployment := snapshot.Deployment()
	outcome := Outcome{GroupKind: observe.DeploymentKind.GroupKind(), Name: mc.Name, Result: Paused}
	generation, err := s.applyPause(ctx, deployment, appsv1ac.Deployment(deployment.Name, deployment.Namespace).
		WithSpec(appsv1ac.DeploymentSpec().WithPaused(true)))
	outcome.Generation = generation
	return Report{settle(outcome, err)}
}

// resume ends a pause, if there is one, and returns the resulting generation.
func (s *Syncer) resume(ctx context.Context, live client.Object) (int64, error) {
	deployment, ok := live.(*appsv1.Deployment)
	if !ok || !observe.IsPaused(deployment) {
		return 0, nil
	}
	return s.applyPause(ctx, deployment, appsv1ac.Deployment(deployment.Name, deployment.Namespace))
}

// applyPause applies the configuration as the separate field manager, and returns the resulting generation.
func (s *Syncer) applyPause(
	ctx context.Context, live *appsv1.Deployment, pause *appsv1ac.DeploymentApplyConfiguration,
) (int64, error) {
	pause.WithUID(live.UID)
	err := s.applyOver(ctx, pause, client.FieldOwner(names.PauseOwner))
	if err != nil || pause.Generation == nil {
		return 0, err
	}
	return *pause.Generation, nil
}
