package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Memcached is a cache of one or more memcached nodes. Each node is a memcached server of its own; clients
// spread their keys over the nodes (see docs/clients.md).
//
// The name becomes the name of a Service and the value of a label, hence its rule: a DNS-1035 label
// (RFC 1035 section 2.3.1; Kubernetes before 1.36 refuses Services whose name begins with a digit).
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=mc,categories=all
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",messageExpression="'metadata.name \"' + self.metadata.name + '\" can not name a Service: use at most 63 lower-case letters, digits and hyphens, beginning with a letter and not ending with a hyphen'",message="metadata.name can not name a Service: use at most 63 lower-case letters, digits and hyphens, beginning with a letter and not ending with a hyphen"
type Memcached struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the cache as it should be.
	// +optional
	// +kubebuilder:default={}
	Spec MemcachedSpec `json:"spec,omitempty,omitzero"`

	// status is the cache as it was last seen, written by the operator.
	// +optional
	Status MemcachedStatus `json:"status,omitempty,omitzero"`
}

// MemcachedSpec is the cache as it should be.
type MemcachedSpec struct {
	// size is the number of memcached nodes, 0 to 1000. Defaults to 1.
	// A HorizontalPodAutoscaler sets it through the scale subresource; Git then leaves it out.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Size *int32 `json:"size,omitempty"`

	// image is the memcached image: a reference with or without tag or digest, 1 to 512 characters.
	// Defaults to the image that this version of the operator was released with (the operator's environment
	// variable RELATED_IMAGE_MEMCACHED).
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// memory is what one node may use for items (memcached's -m), 16Mi to 4Ti, rounded down to whole
	// mebibytes. Defaults to 64Mi, which is memcached's own default. The container gets more than that: see
	// docs/memcached.md.
	// +optional
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).compareTo(quantity('16Mi')) >= 0",message="memory must be at least 16Mi: memcached needs room for a page of each slab class"
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).compareTo(quantity('4Ti')) <= 0",message="memory must be at most 4Ti a node: raise size to spread the cache over more nodes"
	Memory *resource.Quantity `json:"memory,omitempty"`
}

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

	// endpoint is what a sharding client is given: <name>.<namespace>.svc:<port>. The name resolves to the
	// addresses of the nodes that are ready.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
}

// MemcachedList is a list of Memcacheds.
//
// +kubebuilder:object:root=true
type MemcachedList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Memcached `json:"items"`
}
