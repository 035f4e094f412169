package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Placement is where Pods may run. A field that PodSpec also has means the same as there.
//
// +kubebuilder:validation:XValidation:rule="!has(self.zones) || !has(self.topologySpreadConstraints) || self.topologySpreadConstraints.all(constraint, constraint.topologyKey != 'topology.kubernetes.io/zone')",message="zones spreads the Pods over topology.kubernetes.io/zone, and topologySpreadConstraints has a constraint for it, too: remove one of the two"
type Placement struct {
	// architectures are the kubernetes.io/arch values of the Nodes that Pods may run on: amd64, arm64, ppc64le, s390x.
	// Defaults to the architectures that the operator was installed with (its environment variable OPERAND_ARCHITECTURES).
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Architectures []Architecture `json:"architectures,omitempty"`

	// preferredArchitectures are the architectures that the scheduler prefers among the allowed ones, at most 8. Defaults
	// to none.
	// +optional
	// +listType=map
	// +listMapKey=architecture
	// +kubebuilder:validation:MaxItems=8
	PreferredArchitectures []PreferredArchitecture `json:"preferredArchitectures,omitempty"`

	// zones is how the Pods spread over zones (the values of the Nodes' label topology.kubernetes.io/zone): with Required,
	// the numbers of Pods in two zones differ by at most 1, and a Pod that would break this rule stays Pending; with
	// Preferred, the scheduler spreads the Pods over zones and Nodes if it can, and zones are more important than Nodes.
	// For other rules, use topologySpreadConstraints. Defaults to the scheduler's own spread of Pods over Nodes and zones.
	// +optional
	Zones Spread `json:"zones,omitempty"`

	// nodeSelector are labels that a Node must have, at most 64. Defaults to none.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations are taints of Nodes that the Pods tolerate, at most 64. Defaults to none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity is the affinity of the Pods. The operator merges it with the node affinity for architectures: each required
	// node selector term gets the requirement for the architectures, too. Defaults to none.
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

	// priorityClassName is the PriorityClass of the Pods. Defaults to the default PriorityClass of the cluster.
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

// Architecture is a processor architecture by its name in Go and in the label kubernetes.io/arch.
//
// +kubebuilder:validation:Enum=amd64;arm64;ppc64le;s390x
type Architecture string

// PreferredArchitecture is an architecture that the scheduler prefers, and the weight of this preference.
type PreferredArchitecture struct {
	// architecture is the preferred architecture.
	// +required
	Architecture Architecture `json:"architecture"`

	// weight is the weight of this preference relative to others, 1 to 100.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Weight int32 `json:"weight"`
}

// Spread is how strictly the scheduler spreads the Pods.
//
// +kubebuilder:validation:Enum=Required;Preferred
type Spread string

const (
	// SpreadRequired leaves a Pod Pending if its placement would break the rule.
	SpreadRequired Spread = "Required"

	// SpreadPreferred follows the rule if it can, and otherwise places the Pod anyway.
	SpreadPreferred Spread = "Preferred"
)

// Rollout is how Pods are replaced.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.maxSurge) && string(self.maxSurge) in ['0', '0%'] && (!has(self.maxUnavailable) || string(self.maxUnavailable) in ['0', '0%']))",message="maxSurge and maxUnavailable (default: 0) must not both be 0, because no Pod could be replaced: set maxUnavailable to 1"
// +kubebuilder:validation:XValidation:rule="!has(self.progressDeadlineSeconds) || self.progressDeadlineSeconds > (has(self.minReadySeconds) ? self.minReadySeconds : 0)",message="progressDeadlineSeconds must be greater than minReadySeconds, because a new Pod counts as progress only after minReadySeconds: raise progressDeadlineSeconds or lower minReadySeconds"
type Rollout struct {
	// maxSurge is the maximum number of Pods above size during a rollout: a number up to 1000, or a percentage of size
	// up to 100%, rounded up. A change replaces no Pod. Defaults to 1.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == string ? self.matches('^(0|[1-9][0-9]?|100)%$') : (self >= 0 && self <= 1000)",message="maxSurge must be a number from 0 to 1000 without quotes, or a percentage from 0% to 100%, such as 25%"
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`

	// maxUnavailable is the maximum number of Pods below size during a rollout: a number up to 1000, or a percentage of
	// size up to 100%, rounded down. A change replaces no Pod. Defaults to 0: a Pod is added before one is removed. If
	// maxUnavailable and maxSurge are both 0 after rounding, Kubernetes uses 1 for maxUnavailable.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == string ? self.matches('^(0|[1-9][0-9]?|100)%$') : (self >= 0 && self <= 1000)",message="maxUnavailable must be a number from 0 to 1000 without quotes, or a percentage from 0% to 100%, such as 25%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// minReadySeconds is how long a new Pod must be ready before the next Pod is replaced, in seconds, 0 to 3600. In this
	// time, clients can fill the new Pod. A change replaces no Pod. Defaults to 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// progressDeadlineSeconds is the time without progress after which the cache is Stalled with the reason
	// ProgressDeadlineExceeded, in seconds, 1 to 86400. It must be greater than minReadySeconds. Each Pod that becomes
	// ready is progress, so a rollout of many Pods may take longer. A change replaces no Pod. Defaults to 600, plus
	// minReadySeconds, and plus slots.handoff.timeoutSeconds if the cache has slots.
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

	// memoryChange is what a change to memory does to Pods: Replace replaces them, and with slots each new Pod copies the
	// keys of the Pod that it replaces; Resize replaces no Pod. If the cache has slots, Resize changes the memory of
	// running Pods, and of memcached in them, without a restart; otherwise the Pods keep their memory until the next
	// rollout, and the condition UpdatePending says so. A change replaces no Pod. Defaults to Replace.
	// +optional
	MemoryChange MemoryChange `json:"memoryChange,omitempty"`
}

// MemoryChange is what a change to spec.memory does to Pods.
//
// +kubebuilder:validation:Enum=Replace;Resize
type MemoryChange string

const (
	// MemoryReplace replaces the Pods, like other changes to the spec. Without slots, their keys are lost.
	MemoryReplace MemoryChange = "Replace"

	// MemoryResize resizes running Pods with slots in place, which Kubernetes supports from 1.33 on, and gives memcached
	// its new memory. If a Node never has room for the new memory, the Pods are replaced. Without slots, the change waits
	// for the next rollout.
	MemoryResize MemoryChange = "Resize"
)

// UpdatePolicy is when new defaults of the operator reach running Pods. Such an update replaces the Pods, and without
// slots the new Pods start empty.
//
// +kubebuilder:validation:Enum=OnSpecChange;Automatic
type UpdatePolicy string

const (
	// UpdateOnSpecChange waits for the next change to the spec that replaces the Pods anyway.
	UpdateOnSpecChange UpdatePolicy = "OnSpecChange"

	// UpdateAutomatic replaces the Pods after an upgrade of the operator. The operator does this for a limited number of
	// caches at a time.
	UpdateAutomatic UpdatePolicy = "Automatic"
)

// Disruption limits how many Pods may be unavailable while Nodes are drained.
type Disruption struct {
	// maxUnavailable is the maximum number of Pods that may be unavailable at a time: a number up to 1000, or a percentage
	// of size up to 100%, rounded up. Defaults to 1. A cache of size 0 or 1 has no PodDisruptionBudget, because it would
	// only block drains. With slots, an evicted Pod counts as unavailable until another Pod has its slot.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == string ? self.matches('^(0|[1-9][0-9]?|100)%$') : (self >= 0 && self <= 1000)",message="maxUnavailable must be a number from 0 to 1000 without quotes, or a percentage from 0% to 100%, such as 25%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}
