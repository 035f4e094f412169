package v1

import (
	networkingv1 "k8s.io/api/networking/v1"
)

// NetworkPolicyMode says whether there is a NetworkPolicy.
//
// +kubebuilder:validation:Enum=Enabled;Disabled
type NetworkPolicyMode string

const (
	// NetworkPolicyEnabled has the operator make a NetworkPolicy.
	NetworkPolicyEnabled NetworkPolicyMode = "Enabled"

	// NetworkPolicyDisabled leaves the nodes open, or to policies of somebody else's.
	NetworkPolicyDisabled NetworkPolicyMode = "Disabled"
)

// NetworkPolicy says who may reach the nodes. It is enforced by the network plugin of the cluster, if that can: where
// it can't, the NetworkPolicy is there and has no effect.
type NetworkPolicy struct {
	// mode Enabled makes a NetworkPolicy that lets clients reach the ports of memcached, and Prometheus that of the
	// metrics, and nobody any other; Disabled makes none. Defaults to Enabled.
	// +optional
	Mode NetworkPolicyMode `json:"mode,omitempty"`

	// from are the clients that may reach the nodes, in the words of a NetworkPolicy, at most 64. Defaults to all, as
	// does an empty list.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	From []networkingv1.NetworkPolicyPeer `json:"from,omitempty"`

	// metricsFrom are those who may read the nodes' metrics, in the words of a NetworkPolicy, at most 64. Defaults to
	// all, as does an empty list.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	MetricsFrom []networkingv1.NetworkPolicyPeer `json:"metricsFrom,omitempty"`
}
