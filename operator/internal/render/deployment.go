package render

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// deployment runs the nodes. A rollout adds a node before it takes one away (maxSurge 1, maxUnavailable 0).
func deployment(p plan.Plan) Object {
	deployment := appsv1ac.Deployment(p.Name, p.Namespace).
		WithLabels(labels(p)).
		WithOwnerReferences(owner(p)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(p.Size).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(names.Selector(p.Name))).
			WithStrategy(appsv1ac.DeploymentStrategy().
				WithType(appsv1.RollingUpdateDeploymentStrategyType).
				WithRollingUpdate(appsv1ac.RollingUpdateDeployment().
					WithMaxSurge(intstr.FromInt32(1)).
					WithMaxUnavailable(intstr.FromInt32(0)))).
			WithTemplate(podTemplate(p)))
	return Object{
		GroupKind:     appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind(),
		Configuration: deployment,
		Metadata:      deployment.ObjectMetaApplyConfiguration,
	}
}

func podTemplate(p plan.Plan) *corev1ac.PodTemplateSpecApplyConfiguration {
	return corev1ac.PodTemplateSpec().
		WithLabels(labels(p)).
		WithAnnotations(map[string]string{names.AnnotationDefaultContainer: names.Container}).
		WithSpec(podSpec(p))
}
