package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MemcachedStatus is the cache as it was last seen.
type MemcachedStatus struct {
	// conditions tell whether the cache is ready and, if not, why (kstatus: Ready is always there; Reconciling
	// and Stalled are there only while true, and never both).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status tells of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// nodes are the names of the memcached Pods that are not being deleted, sorted.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=4096
	Nodes []string `json:"nodes,omitempty"`

	// replicas is the number of memcached nodes there are, for the scale subresource.
	// +optional
	Replicas int32 `json:"replicas"`

	// readyReplicas is the number of memcached nodes that answer.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// selector selects the memcached Pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`

	// endpoint is what a sharding client is given: <name>.<namespace>.svc:<port>, with the port of TLS where there is
	// TLS. The name resolves to the addresses of the nodes that are ready.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// tls tells of the certificate in the Secret that spec.tls names.
	// +optional
	TLS *TLSStatus `json:"tls,omitempty"`
}
