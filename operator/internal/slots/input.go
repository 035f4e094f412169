package slots

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// Input is what a decision depends on: the spec and the observed state. Decide remembers nothing.
type Input struct {
	// Cache is the name of the Memcached, and Size the desired number of its slots.
	Cache string
	Size  int

	// Listed is the number of slots in clients' lists, as recorded with Endpoints; 0 if there is no record.
	Listed int

	// Scaling keeps the keys when Size changes. Without it, an added slot starts without keys, and the keys of a
	// removed slot are lost.
	Scaling *Scaling

	// Memory is the memory that running Pods are to have. If it is nil, running Pods keep the memory that they have, and
	// new Pods get as much memory as the other Pods were given.
	Memory *Memory

	// Suspended: everything stays as it is.
	Suspended bool

	// Handoff copies the keys of a Pod that is replaced (Auto). Without it the new Pod starts empty (Never).
	Handoff bool

	// Timeout is how long a copy may take.
	Timeout time.Duration

	// Rate is the limit of a copy in bytes per second. A copy exceeds it if the Pod whose keys are copied would otherwise
	// end before the copy is complete.
	Rate int64

	// MinReady is for how long a Pod must be ready before the Deployment counts it as available.
	MinReady time.Duration

	// Drain is how long a Pod that gave its slot away still serves connected clients.
	Drain time.Duration

	Now time.Time

	// Deployed is the number of replicas of the Deployment; 0 if it does not exist.
	Deployed int

	// Hash is the pod-template-hash of the ReplicaSet that the Deployment scales up: the hash of its current template,
	// which after an undo is older than the template of its Pods. Only this field determines the direction of a
	// rollout. If it is empty, no Pod is replaced because of its template.
	Hash string

	// Endpoints are the observed slice: which Pod holds which slot. An endpoint whose hostname is no slot of the cache is
	// left out.
	Endpoints []Endpoint

	// Pods are all Pods of the cache, including those that are terminating or have ended. A Pod that is in Endpoints but
	// not here does not exist. So before you leave out a Pod, read it from the API server, because the informer cache of
	// Pods may be older than the cache of EndpointSlices.
	Pods []Pod

	// Addresses are the addresses of the slots for the status, by the name of the slot.
	Addresses map[string]string
}

// Endpoint is an entry of the EndpointSlice: a Pod holds a slot.
type Endpoint struct {
	// Slot is the number of the slot, from 0.
	Slot int

	// Pod, UID and IP are the name, the UID and the IP address of the Pod.
	Pod string
	UID string
	IP  string

	// Ready publishes the address. It is false while memcached in the Pod is not ready, and if the Pod has ended and no
	// other Pod has taken the slot yet.
	Ready bool
}

// Pod is the observed state of a Pod.
type Pod struct {
	Name    string
	UID     string
	IP      string
	Created time.Time

	// Hash is its label pod-template-hash.
	Hash string

	// Gated: it has the readiness gate of slots. Pods without the gate get no slots: they were created before slots
	// were enabled, or after slots were disabled.
	Gated bool

	// Terminating: it has a deletionTimestamp. It serves its slot until its successor does.
	Terminating bool

	// Ends is that deletionTimestamp: the time at which the kubelet kills the Pod at the latest. It is zero unless
	// Terminating.
	Ends time.Time

	// Ended: its phase is Succeeded or Failed.
	Ended bool

	// Unschedulable: no Node has room for it.
	Unschedulable bool

	// MemcachedReady and AgentReady are the readiness of the two containers. MemcachedReady is false on a Node that is
	// not ready, whose kubelet reports nothing.
	MemcachedReady bool
	AgentReady     bool

	// Ready is the condition Ready: both containers and the gate, as the kubelet sees them.
	Ready bool

	// GateTrue: the condition of the readiness gate is True.
	GateTrue bool

	// Cost is the annotation pod-deletion-cost; 0 without it.
	Cost int32

	// Instruction is the operator's last instruction; the zero value if there is none, and one with the
	// role Unknown if it can't be decoded.
	Instruction instruction.Instruction

	// Container is the memory of memcached's container in the spec of the Pod, and Actual the memory that the container
	// has; zero if that is unknown.
	Container, Actual Container

	// ResizeRefused is why the kubelet has not resized the Pod: Deferred, Infeasible or Error, and ResizeMessage is the
	// kubelet's message.
	ResizeRefused, ResizeMessage string

	// Failure is the last termination of the agent with instruction.ExitCode.
	Failure Failure
}

// Container is the memory of a container, in bytes.
type Container struct{ Request, Limit int64 }

// Unknown is the role in an instruction that can't be decoded.
const Unknown instruction.Role = "unknown"

// Failure is a copy that failed, or whose keys were lost after it was complete. The zero value means no failure.
type Failure struct {
	// At is when the agent's container ended.
	At time.Time

	// Reason is the reason in instruction.Failure; empty if the agent gave none.
	Reason string
}

// slotName returns the name of a slot.
func (in Input) slotName(slot int) string { return fmt.Sprintf("%s-%d", in.Cache, slot) }

// slotOf returns the number of a slot with this name, or none.
func (in Input) slotOf(name string) int {
	digits, found := strings.CutPrefix(name, in.Cache+"-")
	slot, err := strconv.Atoi(digits)
	if !found || err != nil || name != in.slotName(slot) {
		return none
	}
	return slot
}

// none stands for the number of a slot if there is no slot.
const none = -1
