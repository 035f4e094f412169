package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Autoscaling lets the operator adapt the memory or the number of Pods to how clients use the cache, or only recommend
// what to set.
type Autoscaling struct {
	// memory recommends, or sets, the memory for items of each Pod.
	// +optional
	Memory *MemoryAutoscaling `json:"memory,omitempty"`

	// size recommends, or sets, the number of Pods.
	// +optional
	Size *SizeAutoscaling `json:"size,omitempty"`

	// quietDays is the number of days, 1 to 3650, on which the operator learns how the cache is used on a usual day,
	// before it reports deviations from the usual day, by the condition AsUsual, an event and an alert. The days are
	// counted separately for each hour of the day. A change replaces no Pod. Defaults to 7.
	// +optional
	// +kubebuilder:default=7
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3650
	QuietDays int32 `json:"quietDays,omitempty"`
}

// MemoryAutoscaling finds out, from the requests of clients, the least memory in which an item that is not used stays
// for evictionAgeSeconds.
//
// +kubebuilder:validation:XValidation:rule="!has(self.min) || !isQuantity(string(self.min)) || !isQuantity(string(self.max)) || quantity(string(self.min)).compareTo(quantity(string(self.max))) <= 0",message="min must be at most max: lower min, or raise max"
type MemoryAutoscaling struct {
	// mode is what the operator does with the recommendation: with Observe, it only reports the recommendation in
	// status.autoscaling; with Act, it also gives each Pod the recommended memory, without a restart, in steps. With Act,
	// omit spec.memory from Git, because the operator chooses the memory. Act needs slots and rollout.memoryChange Resize.
	// A change replaces no Pod. Defaults to Observe.
	// +optional
	// +kubebuilder:default=Observe
	Mode AutoscalingMode `json:"mode,omitempty"`

	// min is the least memory for items of a Pod, 16Mi to max. A new cache with the mode Act begins with 64Mi or, if 64Mi
	// is not between min and max, with the nearer of these bounds. A change replaces no Pod. Defaults to 16Mi.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('16Mi')) >= 0",message="min must be a quantity of at least 16Mi, such as 64Mi; a number without a unit counts bytes"
	Min *resource.Quantity `json:"min,omitempty"`

	// max is the most memory for items of a Pod, 16Mi to 4Ti. The container of the Pod gets more memory than this:
	// docs/memory.md explains how much. A change replaces no Pod.
	// +required
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('16Mi')) >= 0",message="max must be a quantity of at least 16Mi, such as 4Gi; a number without a unit counts bytes"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('4Ti')) <= 0",message="max must be at most 4Ti per Pod: lower it, or raise size to spread the cache over more Pods"
	Max resource.Quantity `json:"max"`

	// evictionAgeSeconds is how long an item that is not used is to stay in the cache, in seconds, 60 to 43200. The
	// operator makes no recommendation until it has observed the requests of clients for twice this time. A change
	// replaces no Pod. Defaults to 3600.
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=43200
	EvictionAgeSeconds int32 `json:"evictionAgeSeconds,omitempty"`

	// cooldownSeconds is the least time between two steps, in seconds, 60 to 86400. Before a step that reduces the memory,
	// the operator also observes the use of the cache for a whole day. A change replaces no Pod. Defaults to 600.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=86400
	CooldownSeconds int32 `json:"cooldownSeconds,omitempty"`
}

// AutoscalingMode is what the operator does with a recommendation.
//
// +kubebuilder:validation:Enum=Observe;Act
type AutoscalingMode string

const (
	// AutoscalingObserve only reports the recommendation.
	AutoscalingObserve AutoscalingMode = "Observe"

	// AutoscalingAct also applies the recommendation to the Pods.
	AutoscalingAct AutoscalingMode = "Act"
)

// AutoscalingStatus is what the operator has found out about the use of the cache.
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

// UsualDay is how the cache is used on a usual day, and how its current use deviates from the usual day.
type UsualDay struct {
	// since is when the operator began to learn the usual day. Remove usualDay from the status to make the operator learn
	// the usual day again.
	// +required
	Since metav1.Time `json:"since"`

	// learnedAt is the end of the last hour that the operator has learned.
	// +optional
	LearnedAt *metav1.Time `json:"learnedAt,omitempty"`

	// deviations are the current deviations, the most important ones first.
	// +optional
	// +listType=map
	// +listMapKey=reason
	// +kubebuilder:validation:MaxItems=16
	Deviations []Deviation `json:"deviations,omitempty"`

	// signals are the values that the operator compares with their usual values.
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

	// message has the value and the usual value of the signal at the time when the deviation began.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message"`
}

// UsualSignal is the usual course of one signal. Each of its lists has one entry for each hour of the day, in UTC.
type UsualSignal struct {
	// name is HitRatio, EvictionAge, Connections or Latency.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name"`

	// usual has the usual value for each hour, in thousandths: of a percent for HitRatio, of a second for EvictionAge, of
	// a connection of a Pod for Connections, and of a microsecond for Latency; -1 means that the usual value is
	// unknown.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	Usual []int64 `json:"usual,omitempty"`

	// spread has the mean difference from the usual value for each hour: in thousandths of a percentage point for
	// HitRatio, and in thousandths of a doubling for the other signals.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	Spread []int64 `json:"spread,omitempty"`

	// days has the number of days on which each hour was learned.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	Days []int64 `json:"days,omitempty"`
}

// Values of UsualSignal.Name.
const (
	// SignalHitRatio is the share of reads that found their item.
	SignalHitRatio = "HitRatio"

	// SignalEvictionAge is how long evicted items had not been used before they were evicted; it is a day if no items are
	// evicted.
	SignalEvictionAge = "EvictionAge"

	// SignalConnections are the open connections of a Pod.
	SignalConnections = "Connections"

	// SignalLatency is how long memcached takes to answer the agent of its Pod.
	SignalLatency = "Latency"
)

// MemoryAutoscalingStatus is what the operator has found out about the memory for items of each Pod.
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

	// expectedHitRatioPercent is the share of reads, in percent, that would find their item with the recommended memory.
	// +optional
	ExpectedHitRatioPercent *int32 `json:"expectedHitRatioPercent,omitempty"`

	// hitRatioPercent is the share of reads, in percent, that found their item at the time of the last recommendation.
	// +optional
	HitRatioPercent *int32 `json:"hitRatioPercent,omitempty"`

	// current is the memory that each Pod is to have with the mode Act; empty with Observe.
	// +optional
	Current *resource.Quantity `json:"current,omitempty"`

	// changedAt is when the operator last changed current.
	// +optional
	ChangedAt *metav1.Time `json:"changedAt,omitempty"`

	// former is the memory that each Pod had before the last step, if that step gave the Pods more memory. If the resize
	// of one Pod to the memory in current is refused, all Pods get the former memory again.
	// +optional
	Former *resource.Quantity `json:"former,omitempty"`

	// refused is the memory that a Pod could not get. For an hour after changedAt, no step leads to this memory.
	// +optional
	Refused *resource.Quantity `json:"refused,omitempty"`
}

// Reasons of MemoryAutoscalingStatus and SizeAutoscalingStatus.
const (
	// MemoryObserving: the requests of clients have not been observed for long enough yet.
	MemoryObserving = "Observing"

	// MemorySilent: no Pod has reported how the cache is used.
	MemorySilent = "Silent"

	// MemoryTooSmall: items are evicted sooner than evictionAgeSeconds after their last use.
	MemoryTooSmall = "TooSmall"

	// MemoryFits: the memory, or the number of Pods, is about what is recommended.
	MemoryFits = "Fits"

	// MemoryTooLarge: less memory, or fewer Pods, would be enough.
	MemoryTooLarge = "TooLarge"
)
