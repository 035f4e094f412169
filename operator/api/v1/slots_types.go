package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SlotsMode is how clients reach the slots of a cache.
//
// +kubebuilder:validation:Enum=DNS;ClusterIP
type SlotsMode string

const (
	// SlotsDNS gives each slot a DNS name.
	SlotsDNS SlotsMode = "DNS"

	// SlotsClusterIP gives each slot a DNS name, and a Service with a cluster IP.
	SlotsClusterIP SlotsMode = "ClusterIP"
)

// Slots gives each of the Pods of a cache a slot: a place with a name that never changes. A new Pod takes the slot of
// the Pod that it replaces, so clients that choose a server by its name find each key under the same name as before.
type Slots struct {
	// mode is how clients reach the slots: with DNS, by a name for each slot, NAME-0.NAME-slots.NAMESPACE.svc; with
	// ClusterIP, also by a Service for each slot, NAME-0, for clients that choose a server by its IP address. A change
	// replaces no Pod. Defaults to DNS.
	// +optional
	// +kubebuilder:default=DNS
	Mode SlotsMode `json:"mode,omitempty"`

	// clientHash is how all clients choose the slot of a key: Ketama is libmemcached's weighted ketama; CRC32Modulo is the
	// hash of gomemcache; JumpSorted that of Thanos, Loki and Mimir; Rendezvous that of pymemcache. If clientHash is set,
	// a change to size keeps the keys: slots are added and removed one at a time, and before each of these changes, the
	// keys that clients will then look for in another slot are copied there. Without clientHash, a new slot is empty, and
	// the keys of a removed slot are lost. Clients must have the addresses of status.slots, in the same order. Defaults to
	// none. A change replaces no Pod.
	// +optional
	ClientHash ClientHash `json:"clientHash,omitempty"`

	// scaleOverlapSeconds is how long clients may still have the former list of slots after a slot was added or removed,
	// in seconds, 1 to 3600. During this time, a key that a client with one list changes is removed from the Pod in which
	// clients with the other list look for it. Set it to the time in which all clients get the new list. Rollouts, and the
	// change to the next slot, wait until this time is over. The field has an effect only with clientHash. Defaults to 30.
	// A change replaces no Pod.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	ScaleOverlapSeconds *int32 `json:"scaleOverlapSeconds,omitempty"`

	// handoff is how a Pod gets the keys of the Pod that it replaces.
	// +optional
	Handoff *Handoff `json:"handoff,omitempty"`
}

// ClientHash is how clients choose the slot of a key. The package clienthash has the exact definitions.
//
// +kubebuilder:validation:Enum=Ketama;CRC32Modulo;JumpSorted;Rendezvous
type ClientHash string

const (
	// HashKetama is libmemcached's weighted ketama: PHP with OPT_LIBKETAMA_COMPATIBLE, pylibmc with "ketama_weighted".
	HashKetama ClientHash = "Ketama"

	// HashCRC32Modulo is the hash of gomemcache's ServerList. Almost all keys move when the size changes.
	HashCRC32Modulo ClientHash = "CRC32Modulo"

	// HashJumpSorted is the hash of Thanos, Loki and Mimir.
	HashJumpSorted ClientHash = "JumpSorted"

	// HashRendezvous is the hash of pymemcache's HashClient.
	HashRendezvous ClientHash = "Rendezvous"
)

// Handoff is how a Pod gets the keys of the Pod that it replaces.
type Handoff struct {
	// mode is whether a Pod that replaces another one first copies the keys of that Pod: with Auto, it does; with Never,
	// it starts empty. Until the new Pod has the slot, the other Pod serves, even if it was deleted or evicted. A change
	// replaces no Pod. Defaults to Auto.
	// +optional
	// +kubebuilder:default=Auto
	Mode HandoffMode `json:"mode,omitempty"`

	// timeoutSeconds is how long the copy of one Pod may take, in seconds, 10 to 86400. If this time is not enough for all
	// keys, only the hottest keys are copied. If the copy makes no progress until the time is over, the new Pod starts
	// empty, and the status reports this. A deleted or evicted Pod serves until another Pod has its keys, but for at most
	// this time. So if Nodes end some time after a notice, set timeoutSeconds to less than that time. Defaults to 600. A
	// change replaces the Pods.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`

	// bytesPerSecond is how many bytes are copied per second, from 64Ki to 64Gi. The limit leaves enough capacity of the
	// network and of the old Pod to clients. The copy exceeds it if the old Pod would otherwise end before the copy is
	// complete. A change replaces no Pod. Defaults to 16Mi.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('64Ki')) >= 0",message="bytesPerSecond must be a quantity of at least 64Ki, such as 16Mi; a number without a unit counts bytes"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('64Gi')) <= 0",message="bytesPerSecond must be at most 64Gi, which no network exceeds: lower it"
	BytesPerSecond *resource.Quantity `json:"bytesPerSecond,omitempty"`
}

// HandoffMode is whether a Pod that replaces another one first copies the keys of that Pod.
//
// +kubebuilder:validation:Enum=Auto;Never
type HandoffMode string

const (
	// HandoffAuto copies the keys.
	HandoffAuto HandoffMode = "Auto"

	// HandoffNever copies no keys: the new Pod starts empty.
	HandoffNever HandoffMode = "Never"
)

// SlotState is the state of a slot.
//
// +kubebuilder:validation:Enum=Serving;Copying;Cold
type SlotState string

const (
	// SlotServing means that the Pod serves the slot, with the keys of its predecessor, if there was one.
	SlotServing SlotState = "Serving"

	// SlotCopying means that the next Pod of the slot copies the keys of the current one.
	SlotCopying SlotState = "Copying"

	// SlotCold means that the Pod of the slot started empty or lost the keys that it had copied, or that no Pod has the
	// slot.
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

	// pod is the name of the Pod that serves the slot; empty if no Pod serves it.
	// +optional
	Pod string `json:"pod,omitempty"`

	// state is Serving; Copying, while the next Pod of the slot copies the keys of the current one; or Cold, if the Pod
	// has none of the keys of its predecessor, or if no Pod has the slot.
	// +optional
	State SlotState `json:"state,omitempty"`

	// reason is why the slot is Cold.
	// +optional
	Reason string `json:"reason,omitempty"`

	// since is when the state began.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
}
