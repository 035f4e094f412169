package v1

import (
	networkingv1 "k8s.io/api/networking/v1"
)

// NetworkPolicyMode is whether the operator creates a NetworkPolicy.
//
// +kubebuilder:validation:Enum=Enabled;Disabled
type NetworkPolicyMode string

const (
	// NetworkPolicyEnabled creates a NetworkPolicy.
	NetworkPolicyEnabled NetworkPolicyMode = "Enabled"

	// NetworkPolicyDisabled creates no NetworkPolicy: the Pods accept all clients, unless other NetworkPolicies restrict
	// them.
	NetworkPolicyDisabled NetworkPolicyMode = "Disabled"
)

// NetworkPolicy is who may connect to the Pods. The network plugin of the cluster enforces it; a plugin that does not
// support NetworkPolicies ignores it.
type NetworkPolicy struct {
	// mode Enabled creates a NetworkPolicy that allows clients on the ports of memcached and on the port of the metrics,
	// and blocks all other ports. Disabled creates no NetworkPolicy. Defaults to Enabled.
	// +optional
	// +kubebuilder:default=Enabled
	Mode NetworkPolicyMode `json:"mode,omitempty"`

	// from are the clients that may connect to memcached, as in NetworkPolicyPeer, at most 64. Defaults to all clients,
	// like an empty list.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	From []networkingv1.NetworkPolicyPeer `json:"from,omitempty"`

	// metricsFrom are the clients that may read the metrics, as in NetworkPolicyPeer, at most 64. Defaults to all clients,
	// like an empty list.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	MetricsFrom []networkingv1.NetworkPolicyPeer `json:"metricsFrom,omitempty"`
}
