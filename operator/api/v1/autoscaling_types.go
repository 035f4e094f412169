package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Autoscaling lets the cache follow its use.
type Autoscaling struct {
	// memory recommends, or sets, the memory for items of each Pod.
	// +optional
	Memory *MemoryAutoscaling `json:"memory,omitempty"`

	// size recommends, or sets, the number of Pods.
	// +optional
	Size *SizeAutoscaling `json:"size,omitempty"`

	// quietDays is for how many days the usual day of the cache is learned before deviations from it are reported, 1 to
	// 3650: by the condition AsUsual, an event and an alert. It counts for each hour of the day. A change replaces no Pod.
	// Defaults to 7.
	// +optional
	// +kubebuilder:default=7
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3650
	QuietDays int32 `json:"quietDays,omitempty"`
}

// MemoryAutoscaling finds the least memory in which an item that is not used stays for evictionAgeSeconds, from the
// requests of clients.
//
// +kubebuilder:validation:XValidation:rule="!has(self.min) || !isQuantity(string(self.min)) || !isQuantity(string(self.max)) || quantity(string(self.min)).compareTo(quantity(string(self.max))) <= 0",message="min must be at most max: lower min, or raise max"
type MemoryAutoscaling struct {
	// mode is what is done with the recommendation: Observe, it is reported in status.autoscaling; or Act, each Pod also
	// gets that memory, without a restart, in steps. Act sets what spec.memory would set: omit that from Git. It needs
	// slots and rollout.memoryChange Resize. A change replaces no Pod. Defaults to Observe.
	// +optional
	// +kubebuilder:default=Observe
	Mode AutoscalingMode `json:"mode,omitempty"`

	// min is the least memory for items of a Pod, 16Mi to max. A new cache with the mode Act begins with 64Mi, or with the
	// bound that is nearest to that. A change replaces no Pod. Defaults to 16Mi.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('16Mi')) >= 0",message="min must be a quantity of at least 16Mi, such as 64Mi; a number without a unit counts bytes"
	Min *resource.Quantity `json:"min,omitempty"`

	// max is the most memory for items of a Pod, 16Mi to 4Ti. Its container gets more than that: docs/memory.md has the
	// sum. A change replaces no Pod.
	// +required
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('16Mi')) >= 0",message="max must be a quantity of at least 16Mi, such as 4Gi; a number without a unit counts bytes"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('4Ti')) <= 0",message="max must be at most 4Ti per Pod: lower it, or raise size to spread the cache over more Pods"
	Max resource.Quantity `json:"max"`

	// evictionAgeSeconds is how long an item that is not used is to stay, in seconds, 60 to 43200. Until twice that time
	// is observed, there is no recommendation. A change replaces no Pod. Defaults to 3600.
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=43200
	EvictionAgeSeconds int32 `json:"evictionAgeSeconds,omitempty"`

	// cooldownSeconds is the least time between two steps, in seconds, 60 to 86400. A step that takes memory away also
	// waits until a whole day is observed. A change replaces no Pod. Defaults to 600.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=86400
	CooldownSeconds int32 `json:"cooldownSeconds,omitempty"`
}

// AutoscalingMode is what is done with a recommendation.
//
// +kubebuilder:validation:Enum=Observe;Act
type AutoscalingMode string

const (
	// AutoscalingObserve only reports it.
	AutoscalingObserve AutoscalingMode = "Observe"

	// AutoscalingAct follows it.
	AutoscalingAct AutoscalingMode = "Act"
)

// AutoscalingStatus is what was found about the use of the cache.
type AutoscalingStatus struct {
	// memory is about the memory for items of each Pod.
	// +optional
	Memory *MemoryAutoscalingStatus `json:"memory,omitempty"`

	// size is about the number of Pods.
	// +optional
	Size *SizeAutoscalingStatus `json:"size,omitempty"`

	// usualDay is how the cache is used on a usual day.
	// +optional
	UsualDay *UsualDay `json:"usualDay,omitempty"`
}

// UsualDay is how the cache is used on a usual day, and how it deviates from that.
type UsualDay struct {
	// since is since when it is learned. Remove the whole record to make the operator learn it again.
	// +required
	Since metav1.Time `json:"since"`

	// learnedAt is the end of the last hour that was learned.
	// +optional
	LearnedAt *metav1.Time `json:"learnedAt,omitempty"`

	// deviations are the current deviations, the most important ones first.
	// +optional
	// +listType=map
	// +listMapKey=reason
	// +kubebuilder:validation:MaxItems=16
	Deviations []Deviation `json:"deviations,omitempty"`

	// signals are what is compared.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Signals []UsualSignal `json:"signals,omitempty"`
}

// Deviation is a deviation from the usual day.
type Deviation struct {
	// reason is one of the reasons of the condition AsUsual.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`

	// message has the value, and the usual value, at the time when the deviation began.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message"`
}

// UsualSignal is what is usual of one signal. Its lists have an entry for each hour of the day, by UTC.
type UsualSignal struct {
	// name is HitRatio, EvictionAge, Connections or Latency.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name"`

	// usual has thousandths: of a percent, of a second, of a connection of a Pod, or of a microsecond; -1 while it is
	// unknown.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	Usual []int64 `json:"usual,omitempty"`

	// spread has the mean difference from that: of the hit ratio in thousandths of a point, of others in thousandths of
	// a doubling.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	Spread []int64 `json:"spread,omitempty"`

	// days has how often each hour was learned.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	Days []int64 `json:"days,omitempty"`
}

// Names of UsualSignal.
const (
	// SignalHitRatio is how many reads found their item.
	SignalHitRatio = "HitRatio"

	// SignalEvictionAge is for how long evicted items had not been used; a day if none are evicted.
	SignalEvictionAge = "EvictionAge"

	// SignalConnections are the open connections of a Pod.
	SignalConnections = "Connections"

	// SignalLatency is how long memcached takes to answer the agent of its Pod.
	SignalLatency = "Latency"
)

// MemoryAutoscalingStatus is what was found about the memory for items of each Pod.
type MemoryAutoscalingStatus struct {
	// reason is what was found: Observing, Silent, TooSmall, Fits or TooLarge.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`

	// message explains the reason.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message"`

	// recommended is the least memory in which an item that is not used stays for evictionAgeSeconds, between min and max;
	// empty while it is unknown.
	// +optional
	Recommended *resource.Quantity `json:"recommended,omitempty"`

	// expectedHitRatioPercent is how many of the reads would find their item with the recommended memory, in percent.
	// +optional
	ExpectedHitRatioPercent *int32 `json:"expectedHitRatioPercent,omitempty"`

	// hitRatioPercent is how many of the reads found their item, in percent, as of the last recommendation.
	// +optional
	HitRatioPercent *int32 `json:"hitRatioPercent,omitempty"`

	// current is the memory that each Pod is to have with the mode Act; empty with Observe.
	// +optional
	Current *resource.Quantity `json:"current,omitempty"`

	// changedAt is when current was changed.
	// +optional
	ChangedAt *metav1.Time `json:"changedAt,omitempty"`

	// former is the memory that each Pod had before the last step, if that step gave it more. Each Pod gets that memory
	// again if a Pod is refused current.
	// +optional
	Former *resource.Quantity `json:"former,omitempty"`

	// refused is the memory that a Pod could not get: no step leads to it for an hour after changedAt.
	// +optional
	Refused *resource.Quantity `json:"refused,omitempty"`
}

// Reasons of MemoryAutoscalingStatus and SizeAutoscalingStatus.
const (
	// MemoryObserving: the requests of clients are observed, but not for long enough.
	MemoryObserving = "Observing"

	// MemorySilent: no Pod has reported how the cache is used.
	MemorySilent = "Silent"

	// MemoryTooSmall: items are evicted earlier than aimed for.
	MemoryTooSmall = "TooSmall"

	// MemoryFits: the memory, or the number of Pods, is about what is recommended.
	MemoryFits = "Fits"

	// MemoryTooLarge: less memory, or fewer Pods, would do.
	MemoryTooLarge = "TooLarge"
)
