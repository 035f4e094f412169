package render

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// networkPolicy lets clients reach the port of memcached, and nobody any other. It is of ingress alone: a rule of
// egress would cut off what others inject into the Pods.
func networkPolicy(p plan.Plan) Object {
	clients := networkingv1ac.NetworkPolicyIngressRule().WithPorts(networkingv1ac.NetworkPolicyPort().
		WithProtocol(corev1.ProtocolTCP).
		WithPort(intstr.FromInt32(p.Memcached.Port)))
	for _, peer := range p.NetworkPolicy.From {
		clients.WithFrom(configuration[networkingv1ac.NetworkPolicyPeerApplyConfiguration](peer))
	}
	policy := networkingv1ac.NetworkPolicy(p.Name, p.Namespace).
		WithLabels(names.Labels(p.Name)).
		WithOwnerReferences(owner(p)).
		WithSpec(networkingv1ac.NetworkPolicySpec().
			WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(names.Selector(p.Name))).
			WithPolicyTypes(networkingv1.PolicyTypeIngress).
			WithIngress(clients))
	return Object{
		GroupKind:     networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy").GroupKind(),
		Configuration: policy,
		Metadata:      policy.ObjectMetaApplyConfiguration,
	}
}
