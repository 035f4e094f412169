package observe

// The Deployment and the Pod that copy the keys of other servers.

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/cached"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// addBootstrap adds the Deployment that copies keys, and its Pod, even if the spec does not request them any more.
func (c Collector) addBootstrap(ctx context.Context, mc *cachev1.Memcached, s *Snapshot) error {
	kind, _ := find(DeploymentKind.GroupKind())
	key := client.ObjectKey{Namespace: mc.Namespace, Name: names.Bootstrap(mc.Name)}
	err := addObject(ctx, c.Cache, key, kind, s.Objects)
	if err != nil || plan.FromServers(mc) == nil {
		return err
	}
	s.Bootstrap.Moved = mc.Status.BootstrapCutOverSince != nil
	deployment, _ := s.Objects[Key{kind.GroupKind(), key.Name}].(*appsv1.Deployment)
	if deployment == nil || !metav1.IsControlledBy(deployment, mc) {
		return nil
	}
	s.Bootstrap.Deployment = deployment
	recorded := instruction.Phase(deployment.Annotations[names.AnnotationBootstrap])
	s.Bootstrap.Moved = s.Bootstrap.Moved || recorded == instruction.PhaseMoved
	pods, err := collectPods(ctx, c.Cache, key.Namespace, names.BootstrapInstance(mc.Name))
	if err == nil {
		pods, err = c.readAgain(ctx, pods)
	}
	for i := range pods {
		if pods[i].DeletionTimestamp.IsZero() && !hasEnded(&pods[i]) {
			s.Bootstrap.Pod = new(bootstrapPod(&pods[i]))
		}
	}
	return err
}

func bootstrapPod(pod *corev1.Pod) plan.BootstrapPod {
	agent := cached.Container(pod.Status.ContainerStatuses, names.Agent)
	failure, _ := failureOf(agent)
	return plan.BootstrapPod{
		Name: pod.Name, UID: string(pod.UID), Phase: instruction.Phase(pod.Annotations[names.AnnotationBootstrap]),
		Runs:    agent.Ready || agent.State.Running != nil,
		Follows: agent.Started != nil && *agent.Started, Ready: agent.Ready,
		Failure: failure, Problem: ProblemOf(pod),
	}
}
