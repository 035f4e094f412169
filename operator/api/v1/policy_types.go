package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Placement says where Pods may run, in a Pod's own terms.
type Placement struct {
	// nodeSelector are labels that a machine must have, at most 64. Defaults to none.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations are taints of machines that Pods put up with, at most 64. Defaults to none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity is merged with the rule of the architectures: each required node selector term gets that rule too.
	// Defaults to none.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// topologySpreadConstraints spread the Pods, at most 16. A constraint without a label selector counts the Pods
	// of this cache. Defaults to none: the scheduler spreads the Pods over machines and zones, where it can.
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	// +kubebuilder:validation:MaxItems=16
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// priorityClassName is the priority class of the Pods. Defaults to the cluster's default.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// schedulerName is the scheduler that places the Pods: a DNS-1123 subdomain of 1 to 253 characters. Defaults to
	// default-scheduler.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	SchedulerName string `json:"schedulerName,omitempty"`

	// runtimeClassName names the RuntimeClass that runs the Pods: a DNS-1123 subdomain of 1 to 253 characters. Defaults to
	// the container runtime's own default.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	RuntimeClassName string `json:"runtimeClassName,omitempty"`
}

// Rollout says how nodes are replaced.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.maxSurge) && string(self.maxSurge) in ['0', '0%'] && (!has(self.maxUnavailable) || string(self.maxUnavailable) in ['0', '0%']))",message="maxSurge and maxUnavailable, which defaults to 0, must not both be 0: a node could neither be added nor taken away; set maxUnavailable to 1"
// +kubebuilder:validation:XValidation:rule="!has(self.progressDeadlineSeconds) || self.progressDeadlineSeconds > (has(self.minReadySeconds) ? self.minReadySeconds : 0)",message="progressDeadlineSeconds must be greater than minReadySeconds, as a new Pod counts as progress only after that time: raise progressDeadlineSeconds or lower minReadySeconds"
type Rollout struct {
	// maxSurge is how many nodes there may be beyond size while nodes are replaced: a number up to 1000, or a
	// percentage of size up to 100%, rounded up. Defaults to 1.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == string ? self.matches('^(0|[1-9][0-9]?|100)%$') : (self >= 0 && self <= 1000)",message="maxSurge must be a number from 0 to 1000 without quotes, or a percentage from 0% to 100%, such as 25%"
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`

	// maxUnavailable is how many nodes may be missing from size while nodes are replaced: a number up to 1000, or
	// a percentage of size up to 100%, rounded down. Defaults to 0: a node is added before one goes.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == string ? self.matches('^(0|[1-9][0-9]?|100)%$') : (self >= 0 && self <= 1000)",message="maxUnavailable must be a number from 0 to 1000 without quotes, or a percentage from 0% to 100%, such as 25%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// minReadySeconds is how long a new node must answer before the next one is replaced, in seconds, 0 to 3600.
	// Time for a cold node to warm up. Defaults to 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// drainSeconds is how long a Pod that is to end goes on to answer, in seconds, 0 to 600: time for its address to leave
	// the DNS answers that clients hold. Then memcached has 15 seconds to end. Defaults to 30. It is part of the Pods: a
	// change replaces them.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=600
	DrainSeconds *int32 `json:"drainSeconds,omitempty"`

	// progressDeadlineSeconds is the time without progress after which the cache is Stalled, with the reason
	// ProgressDeadlineExceeded, in seconds, 1 to 86400. It must be greater than minReadySeconds. Each Pod that becomes
	// ready is progress, so a rollout of many Pods may take longer. Changing it replaces no Pod. Defaults to 600, plus
	// minReadySeconds.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`
}

// UpdatePolicy says when what a new operator brings reaches nodes that run, which empties them.
//
// +kubebuilder:validation:Enum=OnSpecChange;Automatic
type UpdatePolicy string

const (
	// UpdateOnSpecChange waits for the next change of the spec that replaces the nodes anyway.
	UpdateOnSpecChange UpdatePolicy = "OnSpecChange"

	// UpdateAutomatic replaces the nodes after an upgrade of the operator, a limited number of caches at a time.
	UpdateAutomatic UpdatePolicy = "Automatic"
)

// Disruption says how many nodes may be away while machines are drained.
type Disruption struct {
	// maxUnavailable is how many nodes may be away at a time: a number up to 1000, or a percentage of size up to
	// 100%, rounded up. Defaults to 1. A cache of size 0 or 1 has no PodDisruptionBudget: it would only block.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == string ? self.matches('^(0|[1-9][0-9]?|100)%$') : (self >= 0 && self <= 1000)",message="maxUnavailable must be a number from 0 to 1000 without quotes, or a percentage from 0% to 100%, such as 25%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}
