package render

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// service returns the headless Service. Its name resolves to the Pods, over which clients distribute keys by hash.
// Behind a load-balancing ClusterIP, each connection would reach another Pod, and would not find the keys that the last
// connection stored.
func service(p plan.Plan) Object {
	spec := corev1ac.ServiceSpec().
		WithClusterIP(corev1.ClusterIPNone).
		WithSelector(names.Selector(p.Name))
	for _, port := range p.ServicePorts {
		spec.WithPorts(corev1ac.ServicePort().
			WithName(port.Name).
			WithPort(port.Number).
			WithTargetPort(intstr.FromString(port.Name)).
			WithProtocol(corev1.ProtocolTCP))
	}
	if p.Service.IPFamilyPolicy != "" {
		spec.WithIPFamilyPolicy(corev1.IPFamilyPolicy(p.Service.IPFamilyPolicy))
	}
	for _, family := range p.Service.IPFamilies {
		spec.WithIPFamilies(corev1.IPFamily(family))
	}
	return serviceObject(p, p.Name, spec)
}

// serviceObject returns a Service of a cache, with the user's metadata.
func serviceObject(p plan.Plan, name string, spec *corev1ac.ServiceSpecApplyConfiguration) Object {
	service := corev1ac.Service(name, p.Namespace).
		WithLabels(labelsWith(p.Name, p.CommonMetadata.Labels, p.Service.Metadata.Labels)).
		WithAnnotations(p.CommonMetadata.Annotations).
		WithAnnotations(p.Service.Metadata.Annotations).
		WithOwnerReferences(owner(p)).
		WithSpec(spec.WithType(corev1.ServiceTypeClusterIP))
	return Object{
		GroupKind:     corev1.SchemeGroupVersion.WithKind("Service").GroupKind(),
		Configuration: service,
		Metadata:      service.ObjectMetaApplyConfiguration,
	}
}
