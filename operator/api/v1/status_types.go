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
	// TLS. The name resolves to the addresses of the Pods that are ready. When the port changes, the endpoint follows
	// after the last Pod that does not listen on the new port was replaced.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// image is the memcached image of the Pods. While a rollout is in progress, some Pods still run the one before.
	// +optional
	Image string `json:"image,omitempty"`

	// agentImage is the image of the agent in the Pods; empty if they have none.
	// +optional
	AgentImage string `json:"agentImage,omitempty"`

	// templateRevision is the revision of the operator's Pod template that the Pods were made by.
	// +optional
	TemplateRevision int32 `json:"templateRevision,omitempty"`

	// templateInputs is the operator's record of what the Pods were made of, the same as in the annotation
	// cache.example.com/template-inputs of the Deployment. It restores that annotation if another client changes it.
	// +optional
	TemplateInputs string `json:"templateInputs,omitempty"`

	// tls tells of the certificate in the Secret that spec.tls names.
	// +optional
	TLS *TLSStatus `json:"tls,omitempty"`
}
