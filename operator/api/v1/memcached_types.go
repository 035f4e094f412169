package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Memcached is a cache of one or more Pods. Each Pod is a separate memcached server; clients spread their keys over
// the servers (see docs/clients.md).
//
// The name of a Memcached is also the name of a Service and the value of a label. So it must be a DNS-1035 label (RFC
// 1035 section 2.3.1; Kubernetes before 1.36 refuses Services whose name begins with a digit).
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=mc,categories=memcached
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.status.image`,priority=1
// +kubebuilder:printcolumn:name="Agent",type=string,JSONPath=`.status.agentImage`,priority=1
// +kubebuilder:printcolumn:name="Template",type=integer,JSONPath=`.status.templateRevision`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",messageExpression="'metadata.name \"' + self.metadata.name + '\" can not name a Service: use at most 63 lower-case letters, digits and hyphens, beginning with a letter and not ending with a hyphen'",message="metadata.name can not name a Service: use at most 63 lower-case letters, digits and hyphens, beginning with a letter and not ending with a hyphen"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.spec.autoscaling) || !has(oldSelf.spec.autoscaling.size) || oldSelf.spec.autoscaling.size.mode != 'Act' || has(self.spec.autoscaling) && has(self.spec.autoscaling.size) && self.spec.autoscaling.size.mode == 'Act' || !has(oldSelf.status) || self.spec.size >= (has(oldSelf.status.autoscaling) && has(oldSelf.status.autoscaling.size) && has(oldSelf.status.autoscaling.size.current) ? oldSelf.status.autoscaling.size.current : has(oldSelf.status.replicas) ? oldSelf.status.replicas : 0)",message="spec.size must be set when spec.autoscaling.size.mode is no longer Act, because Pods would otherwise be removed: set it to status.autoscaling.size.current or, if the status does not have that, to status.replicas"
type Memcached struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the desired state of the cache.
	// +optional
	// +kubebuilder:default={}
	Spec MemcachedSpec `json:"spec,omitempty,omitzero"`

	// status is the observed state of the cache, written by the operator.
	// +optional
	Status MemcachedStatus `json:"status,omitempty,omitzero"`
}

// MemcachedList is a list of Memcacheds.
//
// +kubebuilder:object:root=true
type MemcachedList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Memcached `json:"items"`
}
