package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Placement is where Pods may run, as in PodSpec.
type Placement struct {
	// nodeSelector are labels that a Node must have, at most 64. Defaults to none.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations are taints of Nodes that the Pods tolerate, at most 64. Defaults to none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity is merged with the node affinity for architectures: each required node selector term gets that
	// requirement too. Defaults to none.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// topologySpreadConstraints are how the Pods spread over the cluster, at most 16. A constraint without a label
	// selector selects the Pods of this cache. Defaults to none: the scheduler spreads the Pods over Nodes and zones
	// where it can.
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	// +kubebuilder:validation:MaxItems=16
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// priorityClassName is the PriorityClass of the Pods. Defaults to the default of the cluster.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// schedulerName is the scheduler of the Pods: a DNS-1123 subdomain of 1 to 253 characters. Defaults to
	// default-scheduler.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	SchedulerName string `json:"schedulerName,omitempty"`

	// runtimeClassName is the RuntimeClass of the Pods: a DNS-1123 subdomain of 1 to 253 characters. Defaults to the
	// default of the container runtime.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	RuntimeClassName string `json:"runtimeClassName,omitempty"`
}

// Rollout is how Pods are replaced.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.maxSurge) && string(self.maxSurge) in ['0', '0%'] && (!has(self.maxUnavailable) || string(self.maxUnavailable) in ['0', '0%']))",message="maxSurge and maxUnavailable, which defaults to 0, must not both be 0, as no Pod could be replaced: set maxUnavailable to 1"
// +kubebuilder:validation:XValidation:rule="!has(self.progressDeadlineSeconds) || self.progressDeadlineSeconds > (has(self.minReadySeconds) ? self.minReadySeconds : 0)",message="progressDeadlineSeconds must be greater than minReadySeconds, as a new Pod counts as progress only after that time: raise progressDeadlineSeconds or lower minReadySeconds"
type Rollout struct {
	// maxSurge is the maximum number of Pods above size during a rollout: a number up to 1000, or a percentage of size
	// up to 100%, rounded up. Defaults to 1.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == string ? self.matches('^(0|[1-9][0-9]?|100)%$') : (self >= 0 && self <= 1000)",message="maxSurge must be a number from 0 to 1000 without quotes, or a percentage from 0% to 100%, such as 25%"
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`

	// maxUnavailable is the maximum number of Pods below size during a rollout: a number up to 1000, or a percentage of
	// size up to 100%, rounded down. Defaults to 0: a Pod is added before one is removed. If this and maxSurge both come
	// to 0, Kubernetes uses 1 here.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == string ? self.matches('^(0|[1-9][0-9]?|100)%$') : (self >= 0 && self <= 1000)",message="maxUnavailable must be a number from 0 to 1000 without quotes, or a percentage from 0% to 100%, such as 25%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// minReadySeconds is how long a new Pod must be ready before the next one is replaced, in seconds, 0 to 3600: time
	// for an empty cache to fill. Defaults to 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// drainSeconds is how long a terminating Pod continues to answer, in seconds, 0 to 600: time for its address to
	// leave the DNS answers that clients cache. memcached then has 15 seconds to stop. Defaults to 30. A change
	// replaces the Pods.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=600
	DrainSeconds *int32 `json:"drainSeconds,omitempty"`

	// progressDeadlineSeconds is the time without progress after which the cache is Stalled with the reason
	// ProgressDeadlineExceeded, in seconds, 1 to 86400. It must be greater than minReadySeconds. Each Pod that becomes
	// ready is progress, so a rollout of many Pods may take longer. A change replaces no Pod. Defaults to 600, plus
	// minReadySeconds, and plus handoffTimeoutSeconds where the cache has slots.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`

	// revisionHistoryLimit is the number of old ReplicaSets that the Deployment keeps, 0 to 100. A change replaces no Pod.
	// Defaults to 10, which is Kubernetes' own default.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`

	// handoff is whether a Pod that replaces another copies its keys first, where the cache has slots: Auto or Never.
	// With Auto, a Node that is cordoned is emptied in the same way, before it is drained. Without slots it has no effect.
	// A change replaces no Pod. Defaults to Auto.
	// +optional
	Handoff Handoff `json:"handoff,omitempty"`

	// handoffTimeoutSeconds is how long the copy of one Pod may take, in seconds, 10 to 86400. After that the new Pod
	// starts empty, which the status reports. A change replaces no Pod. Defaults to 600.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	HandoffTimeoutSeconds *int32 `json:"handoffTimeoutSeconds,omitempty"`

	// handoffRate is how many bytes are copied per second, from 64Ki to 64Gi: a limit that leaves clients their share of
	// the network and of the old Pod. A change replaces no Pod. Defaults to 16Mi.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('64Ki')) >= 0",message="handoffRate must be a quantity of at least 64Ki, in bytes per second, such as 16Mi; a number without a unit counts bytes"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('64Gi')) <= 0",message="handoffRate must be at most 64Gi, in bytes per second, which no network exceeds: lower it"
	HandoffRate *resource.Quantity `json:"handoffRate,omitempty"`
}

// UpdatePolicy is when new defaults of the operator reach running Pods. Replacing Pods empties them.
//
// +kubebuilder:validation:Enum=OnSpecChange;Automatic
type UpdatePolicy string

const (
	// UpdateOnSpecChange waits for the next change of the spec that replaces the Pods anyway.
	UpdateOnSpecChange UpdatePolicy = "OnSpecChange"

	// UpdateAutomatic replaces the Pods after an upgrade of the operator, of a limited number of caches at a time.
	UpdateAutomatic UpdatePolicy = "Automatic"
)

// Disruption limits how many Pods may be unavailable while Nodes are drained.
type Disruption struct {
	// maxUnavailable is the maximum number of Pods that may be unavailable at a time: a number up to 1000, or a
	// percentage of size up to 100%, rounded up. Defaults to 1. A cache of size 0 or 1 has no PodDisruptionBudget, as
	// it would only block drains. A cache with slots and handoff Auto, of any size, has one of 0 instead, until the keys
	// of the Pods on a cordoned Node are copied, or the handoff is given up.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == string ? self.matches('^(0|[1-9][0-9]?|100)%$') : (self >= 0 && self <= 1000)",message="maxUnavailable must be a number from 0 to 1000 without quotes, or a percentage from 0% to 100%, such as 25%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}
