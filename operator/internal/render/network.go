package render

// The NetworkPolicy.

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// networkPolicy allows clients to reach the ports of memcached, Prometheus to reach the port of the metrics, and
// nothing else. The ports are those of all existing Pods, including those that a rollout has still to replace. Every
// network plugin admits the kubelet's probes. There are no egress rules, because they would block connections of
// sidecars that other clients inject into the Pods.
func networkPolicy(p plan.Plan) Object {
	spec := networkingv1ac.NetworkPolicySpec().
		WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(names.Selector(p.Name))).
		WithPolicyTypes(networkingv1.PolicyTypeIngress).
		WithIngress(ingress(clients(p), p.ServicePorts...))
	if p.AgentMetrics {
		metrics := plan.Port{Name: names.MetricsPort, Number: names.MetricsPortNumber}
		spec.WithIngress(ingress(p.NetworkPolicy.MetricsFrom, metrics))
	}
	if operator := p.NetworkPolicy.UsageFrom; operator != "" {
		reports := plan.Port{Name: "usage", Number: names.AgentProbePortNumber}
		spec.WithIngress(ingress([]networkingv1.NetworkPolicyPeer{operatorIn(operator)}, reports))
	}
	if p.AnswersDiscovery {
		spec.WithIngress(ingress(p.NetworkPolicy.From, discoveryPorts...))
	}
	policy := networkingv1ac.NetworkPolicy(p.Name, p.Namespace).
		WithLabels(labelsWith(p.Name, p.CommonMetadata.Labels)).
		WithAnnotations(p.CommonMetadata.Annotations).
		WithOwnerReferences(owner(p)).
		WithSpec(spec)
	return Object{
		GroupKind:     networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy").GroupKind(),
		Configuration: policy,
		Metadata:      policy.ObjectMetaApplyConfiguration,
	}
}

// operatorIn returns the peer for the operator's Pods in its namespace.
func operatorIn(namespace string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
		PodSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": names.FieldOwner}},
	}
}

// clients returns the peers that may connect to memcached; none means all. They include Pods that copy keys: those of
// the cache for a handoff, the Pod of a bootstrap, and the Pods of a Job that restores a snapshot.
func clients(p plan.Plan) []networkingv1.NetworkPolicyPeer {
	if p.Slots == nil || len(p.NetworkPolicy.From) == 0 {
		return p.NetworkPolicy.From
	}
	agents := []map[string]string{names.Selector(p.Name)}
	if p.Bootstrap != nil {
		agents = append(agents, names.Selector(names.BootstrapInstance(p.Name)))
	}
	if p.NetworkPolicy.Restores {
		agents = append(agents, map[string]string{names.LabelSnapshot: p.Name})
	}
	peers := slices.Clone(p.NetworkPolicy.From)
	for _, labels := range agents {
		pods := &metav1.LabelSelector{MatchLabels: labels}
		peers = append(peers, networkingv1.NetworkPolicyPeer{PodSelector: pods})
	}
	return peers
}

// ingress allows peers to reach ports. It identifies the ports by number, because a name could mean another port in
// another Pod.
func ingress(
	from []networkingv1.NetworkPolicyPeer, ports ...plan.Port,
) *networkingv1ac.NetworkPolicyIngressRuleApplyConfiguration {
	rule := networkingv1ac.NetworkPolicyIngressRule()
	for _, port := range ports {
		rule.WithPorts(networkingv1ac.NetworkPolicyPort().
			WithProtocol(corev1.ProtocolTCP).
			WithPort(intstr.FromInt32(port.Number)))
	}
	for _, peer := range from {
		rule.WithFrom(configuration[networkingv1ac.NetworkPolicyPeerApplyConfiguration](peer))
	}
	return rule
}
