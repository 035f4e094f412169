package slots

import (
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// Decision lists what the operator writes and reports. All writes are independent: each may fail or be left out, and
// the next decision depends on the observed result alone.
type Decision struct {
	// Endpoints are the desired entries of the EndpointSlice, sorted by slot. Write the slice only if it differs from the
	// observed slice, and only if its resourceVersion is still the observed one.
	Endpoints []Endpoint

	// Listed is the number of slots in clients' lists. Write it with Endpoints, in one write.
	Listed int

	// KeepsKeys: a slot is added or removed only after its keys were copied.
	KeepsKeys bool

	// Changes are the changes to Pods, at most one for each Pod. Write a change only if the uid and the resourceVersion of
	// the Pod are still the observed ones.
	Changes []Change

	// Replicas are the desired replicas of the Deployment: Size, or more as long as a scale-down would delete a wrong
	// Pod.
	Replicas int

	// Moving: a Pod has just taken a slot, and its predecessor is not deleted yet. A Deployment that gets another Pod
	// template now may delete that Pod before its keys are copied to the next one, because it does not count the Pod as
	// available yet.
	Moving bool

	// RequeueAfter is after what time to decide again even without an event; 0 means never.
	RequeueAfter time.Duration

	// Slots are what the status reports for each slot.
	Slots []Status

	// Resizing says in one line how many Pods are still to be resized, and what they wait for; empty if none is.
	Resizing string

	// Progress says in one line how many slots are still to be handed over; empty if none is.
	Progress string
}

// Change is a change to a Pod. Fields that are nil stay as they are.
type Change struct {
	Pod string
	UID string

	// Instruction and Cost are annotations: write both in one patch.
	Instruction *instruction.Instruction
	Cost        *int32

	// Gate is the condition of the readiness gate, in the status of the Pod.
	Gate *bool

	// Container is the memory of memcached's container: write it to the subresource resize of the Pod.
	Container *Container
}

// Deletion costs. A ReplicaSet that is scaled down deletes Pods that are not ready before Pods that are. Of Pods that
// are equally ready, it first deletes those with the lowest cost.
const (
	// CostHolder is the cost of a Pod that holds a slot, and the default: the annotation is then removed.
	CostHolder int32 = 0

	// CostCandidate is the cost of a Pod that holds no slot yet.
	CostCandidate int32 = -50

	// CostLeave is the cost of a Pod that gave its slot away.
	CostLeave int32 = -100
)

// Status is what the status reports for a slot.
type Status struct {
	Name    string
	Address string

	// Pod is the name of the Pod that holds the slot; empty if no Pod does.
	Pod string

	// State is the state of the slot. A slot that no Pod holds is Cold.
	State instruction.State

	// Took is how long the last handoff took, until this Pod had the slot. It is 0 while State is Copying.
	Took time.Duration

	// Ends is when the Pod is killed at the latest. It is zero unless the Pod terminates.
	Ends time.Time

	// Since is when the state began; zero if that is unknown.
	Since time.Time

	// Reason is why the slot is cold: one of the reasons below, or the reason that the agent reported.
	Reason string
}

// Reasons of a slot that is cold.
const (
	// ReasonNoPod: no Pod holds the slot.
	ReasonNoPod = "NoPod"

	// ReasonPodLost: the Pod that held the slot ended before all keys were copied.
	ReasonPodLost = "PodLost"

	// ReasonTimedOut: the copy was not complete within the timeout, not even without the coldest keys.
	ReasonTimedOut = "HandoffTimedOut"

	// ReasonFailed: the copy failed, and the agent gave no reason.
	ReasonFailed = "HandoffFailed"

	// ReasonInstructionLost: another client edited the instruction in the Pod, or the EndpointSlice of the slot.
	ReasonInstructionLost = "InstructionLost"

	// ReasonNever: the spec forbids handoffs.
	ReasonNever = "HandoffNever"
)
