package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SlotsMode is how clients reach the slots of a cache.
//
// +kubebuilder:validation:Enum=Disabled;DNS;ClusterIP
type SlotsMode string

const (
	// SlotsDisabled has no slots: clients know the Pods by their addresses.
	SlotsDisabled SlotsMode = "Disabled"

	// SlotsDNS gives each slot a DNS name.
	SlotsDNS SlotsMode = "DNS"

	// SlotsClusterIP gives each slot a DNS name, and a Service with a cluster IP.
	SlotsClusterIP SlotsMode = "ClusterIP"
)

// Slots gives each of the size Pods of a cache a place with a name that never changes. A new Pod takes the slot of the
// Pod that it replaces, so that clients which choose a server by its name find each key where it was.
type Slots struct {
	// mode is how clients reach the slots: Disabled, there are none; DNS, by a name for each slot,
	// NAME-0.NAME-slots.NAMESPACE.svc; or ClusterIP, also by a Service for each slot, NAME-0, for clients that
	// choose a server by its IP address. Defaults to Disabled. A change from or to Disabled would replace the Pods: it is
	// pending until the next rollout. Requires an operator that was installed with slots.
	// +optional
	Mode SlotsMode `json:"mode,omitempty"`
}

// Handoff is whether a Pod that replaces another copies its keys first.
//
// +kubebuilder:validation:Enum=Auto;Never
type Handoff string

const (
	// HandoffAuto copies the keys.
	HandoffAuto Handoff = "Auto"

	// HandoffNever copies none: the new Pod starts empty.
	HandoffNever Handoff = "Never"
)

// SlotState is the state of a slot.
//
// +kubebuilder:validation:Enum=Serving;Copying;Cold
type SlotState string

const (
	// SlotServing means that the Pod serves the slot, with the keys of its predecessor if it had one.
	SlotServing SlotState = "Serving"

	// SlotCopying means that the next Pod of the slot copies the keys of the current one.
	SlotCopying SlotState = "Copying"

	// SlotCold means that the Pod of the slot started empty or lost what it had copied, or that none has the slot.
	SlotCold SlotState = "Cold"
)

// SlotStatus is the observed state of a slot.
type SlotStatus struct {
	// name is the name of the slot, and the first label of its DNS name.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// address is the address for a client that chooses a server by its name.
	// +optional
	Address string `json:"address,omitempty"`

	// pod is the name of the Pod that serves the slot; empty if none does.
	// +optional
	Pod string `json:"pod,omitempty"`

	// state is Serving; Copying, while the next Pod of the slot copies the keys; or Cold, if the Pod has none of the
	// keys of its predecessor.
	// +optional
	State SlotState `json:"state,omitempty"`

	// keysCopied is the number of keys that the last handoff of the slot copied.
	// +optional
	KeysCopied int64 `json:"keysCopied,omitempty"`

	// bytesCopied is the size of the values that the last handoff of the slot copied.
	// +optional
	BytesCopied int64 `json:"bytesCopied,omitempty"`

	// since is when the state began.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// reason is why the slot is Cold.
	// +optional
	Reason string `json:"reason,omitempty"`
}
