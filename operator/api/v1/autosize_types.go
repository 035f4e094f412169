package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SizeAutoscaling finds the least number of Pods, with the memory of each as it is, in which an item that is not used
// stays for evictionAgeSeconds, from the requests of clients.
//
// +kubebuilder:validation:XValidation:rule="!has(self.min) || self.min <= self.max",message="min must be at most max: lower min, or raise max"
type SizeAutoscaling struct {
	// mode is what is done with the recommendation: Observe, it is reported in status.autoscaling; or Act, the cache also
	// gets that many Pods, in steps, and keeps its keys. Act sets what size would set: omit that from Git. It needs
	// slots.clientHash and the handoff mode Auto. A change replaces no Pod. Defaults to Observe.
	// +optional
	// +kubebuilder:default=Observe
	Mode AutoscalingMode `json:"mode,omitempty"`

	// min is the least number of Pods, 1 to max. A new cache with the mode Act begins with size, or with the bound that is
	// nearest to that. A change replaces no Pod. Defaults to 1.
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

	// evictionAgeSeconds is how long an item that is not used is to stay, in seconds, 60 to 43200. Until twice that time
	// is observed, there is no recommendation. A change replaces no Pod. Defaults to 3600.
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=43200
	EvictionAgeSeconds int32 `json:"evictionAgeSeconds,omitempty"`

	// cooldownSeconds is the least time between two steps, in seconds, 60 to 86400. A step that removes Pods also waits
	// until a whole day with the same number of Pods is observed. A change replaces no Pod. Defaults to 600.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=86400
	CooldownSeconds int32 `json:"cooldownSeconds,omitempty"`
}

// SizeAutoscalingStatus is what was found about the number of Pods.
type SizeAutoscalingStatus struct {
	// reason is what was found: Observing, Silent, TooSmall, Fits or TooLarge.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`

	// message explains the reason.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message"`

	// recommended is the least number of Pods in which an item that is not used stays for evictionAgeSeconds, between min
	// and max; empty while it is unknown.
	// +optional
	Recommended *int32 `json:"recommended,omitempty"`

	// expectedHitRatioPercent is how many of the reads would find their item with the recommended number, in percent.
	// +optional
	ExpectedHitRatioPercent *int32 `json:"expectedHitRatioPercent,omitempty"`

	// hitRatioPercent is how many of the reads found their item, in percent, as of the last recommendation.
	// +optional
	HitRatioPercent *int32 `json:"hitRatioPercent,omitempty"`

	// current is how many Pods the cache is to have with the mode Act, instead of size; empty with Observe.
	// +optional
	Current *int32 `json:"current,omitempty"`

	// changedAt is when the number of Pods last changed, to about ten minutes.
	// +optional
	ChangedAt *metav1.Time `json:"changedAt,omitempty"`

	// former is how many Pods there were before some were removed, until as many have returned: while the
	// recommendation is unknown, the cache may grow to that number again if items are evicted too early.
	// +optional
	Former *int32 `json:"former,omitempty"`

	// tooLittle is the memory of all Pods that was last too little, with the mode Act. For four weeks, no Pod is
	// removed to return to it, unless the cache needs a fifth less than then.
	// +optional
	TooLittle *TooLittleMemory `json:"tooLittle,omitempty"`
}

// TooLittleMemory is a memory in which items were evicted too early.
type TooLittleMemory struct {
	// memory is what all Pods had for items together.
	// +required
	Memory resource.Quantity `json:"memory"`

	// needed is what they needed by the requests of clients; empty until that is known.
	// +optional
	Needed *resource.Quantity `json:"needed,omitempty"`

	// since is when that was found.
	// +optional
	Since metav1.Time `json:"since,omitzero"`
}
