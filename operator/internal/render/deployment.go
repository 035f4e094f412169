package render

import (
	appsv1 "k8s.io/api/apps/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// deployment returns the Deployment that runs the Pods of memcached.
func deployment(p plan.Plan, template *corev1ac.PodTemplateSpecApplyConfiguration) Object {
	deployment := appsv1ac.Deployment(p.Name, p.Namespace).
		WithLabels(labelsWith(p.Name, p.CommonMetadata.Labels)).
		WithAnnotations(p.CommonMetadata.Annotations).
		WithOwnerReferences(owner(p)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(p.Replicas()).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(names.Selector(p.Name))).
			WithStrategy(appsv1ac.DeploymentStrategy().
				WithType(appsv1.RollingUpdateDeploymentStrategyType).
				WithRollingUpdate(appsv1ac.RollingUpdateDeployment().
					WithMaxSurge(p.Rollout.MaxSurge).
					WithMaxUnavailable(p.Rollout.MaxUnavailable))).
			WithTemplate(template))
	if p.Record.Revision > 0 {
		deployment.WithAnnotations(map[string]string{names.AnnotationTemplateInputs: p.Record.Encode()})
	}
	if p.Rollout.MinReadySeconds > 0 { // The API server does not store a zero, so it must not be applied.
		deployment.Spec.WithMinReadySeconds(p.Rollout.MinReadySeconds)
	}
	if p.Rollout.ProgressDeadlineSeconds != plan.DefaultProgressDeadlineSeconds {
		deployment.Spec.WithProgressDeadlineSeconds(p.Rollout.ProgressDeadlineSeconds)
	}
	deployment.Spec.RevisionHistoryLimit = p.Rollout.RevisionHistoryLimit
	return Object{
		GroupKind:     appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind(),
		Configuration: deployment,
		Metadata:      deployment.ObjectMetaApplyConfiguration,
		Ports:         p.PodPorts(),
	}
}
