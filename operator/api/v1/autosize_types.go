package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SizeAutoscaling finds out, from the requests of clients, the least number of Pods with which an item that is not used
// stays for evictionAgeSeconds. The memory of each Pod stays as it is.
//
// +kubebuilder:validation:XValidation:rule="!has(self.min) || self.min <= self.max",message="min must be at most max: lower min, or raise max"
type SizeAutoscaling struct {
	// mode is what the operator does with the recommendation: with Observe, it only reports the recommendation in
	// status.autoscaling; with Act, it also gives the cache the recommended number of Pods, in steps, and the keys are
	// kept. With Act, omit size from Git, because the operator chooses the number of Pods. Act needs slots.clientHash and
	// the handoff mode Auto. A change replaces no Pod. Defaults to Observe.
	// +optional
	// +kubebuilder:default=Observe
	Mode AutoscalingMode `json:"mode,omitempty"`

	// min is the least number of Pods, 1 to max. A new cache with the mode Act begins with size Pods or, if size is not
	// between min and max, with the nearest of these bounds. A change replaces no Pod. Defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Min int32 `json:"min,omitempty"`

	// max is the largest number of Pods, 1 to 1000. A change replaces no Pod.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Max int32 `json:"max"`

	// evictionAgeSeconds is how long an item that is not used is to stay in the cache, in seconds, 60 to 43200. The
	// operator makes no recommendation until it has observed the requests of clients for twice this time. A change
	// replaces no Pod. Defaults to 3600.
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=43200
	EvictionAgeSeconds int32 `json:"evictionAgeSeconds,omitempty"`

	// cooldownSeconds is the least time between two steps, in seconds, 60 to 86400. Before a step that removes Pods, the
	// operator also observes the use of the cache for a whole day with the same number of Pods. A change replaces no Pod.
	// Defaults to 600.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=86400
	CooldownSeconds int32 `json:"cooldownSeconds,omitempty"`
}

// SizeAutoscalingStatus is what the operator has found out about the number of Pods.
type SizeAutoscalingStatus struct {
	// reason is what was found: Observing, Silent, TooSmall, Fits or TooLarge.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`

	// message explains the reason.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message"`

	// recommended is the least number of Pods with which an item that is not used stays for evictionAgeSeconds, between
	// min and max; empty while it is unknown.
	// +optional
	Recommended *int32 `json:"recommended,omitempty"`

	// expectedHitRatioPercent is the share of reads, in percent, that would find their item with the recommended number of
	// Pods.
	// +optional
	ExpectedHitRatioPercent *int32 `json:"expectedHitRatioPercent,omitempty"`

	// hitRatioPercent is the share of reads, in percent, that found their item at the time of the last recommendation.
	// +optional
	HitRatioPercent *int32 `json:"hitRatioPercent,omitempty"`

	// current is how many Pods the cache is to have with the mode Act, instead of size; empty with Observe.
	// +optional
	Current *int32 `json:"current,omitempty"`

	// changedAt is when the number of Pods last changed, accurate to about ten minutes.
	// +optional
	ChangedAt *metav1.Time `json:"changedAt,omitempty"`

	// former is the number of Pods that the cache had before some of them were removed; empty once the cache has this
	// number of Pods again. While there is no recommendation, the cache may grow to this number again if items are evicted
	// too early.
	// +optional
	Former *int32 `json:"former,omitempty"`

	// tooLittle is the memory that all Pods together had when the operator last found that it was too little, with the
	// mode Act. For four weeks after that, the operator removes Pods only if the remaining Pods together have more than
	// this memory. This limit ends earlier if the cache needs a fifth less memory than it needed at that time.
	// +optional
	TooLittle *TooLittleMemory `json:"tooLittle,omitempty"`
}

// TooLittleMemory is a memory with which items were evicted too early.
type TooLittleMemory struct {
	// memory is the memory for items that all Pods had together.
	// +required
	Memory resource.Quantity `json:"memory"`

	// needed is the memory for items that the cache needed, according to the requests of clients; empty until this is
	// known.
	// +optional
	Needed *resource.Quantity `json:"needed,omitempty"`

	// since is when the operator found that the memory was too little.
	// +optional
	Since metav1.Time `json:"since,omitzero"`
}
