// Package instruction is what the operator writes into a Pod of a cache with slots: the annotation
// cache.example.com/handoff, as JSON. The agent in the Pod reads it from a downward API volume and does what Role says.
// The operator keeps its own record of the Pod in the same annotation, because the operator itself remembers nothing:
// after a restart, it reads the Pods.
//
// The package is pure. The operator and the agent share it, and their versions may differ. So unknown fields are
// ignored, and a field never changes its type or meaning.
package instruction

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// Role is what the agent does for the slot.
type Role string

// Roles. The agent is ready, which means that GET /ready answers 200, only when the comment of its role says so.
const (
	// None is the role of a Pod without an instruction. The agent does nothing and is not ready.
	None Role = ""

	// Serve is the role of a Pod that holds a slot. The agent does nothing and is ready. If its role was Receive before,
	// and not all keys were copied, the agent first stops the copy and empties its memcached.
	Serve Role = "serve"

	// Cold is the role of a Pod that gets its slot without keys. The agent empties its memcached once and is ready
	// afterwards.
	Cold Role = "cold"

	// Receive is the role of a Pod that copies the keys of the slot from the Pod at From. The agent empties its
	// memcached, copies, and is ready once all keys are copied; from then on it removes each key that changes in one
	// Pod from the other.
	Receive Role = "receive"

	// Moved is the role of a Pod that has received the slot while its former holder still serves connected clients. The
	// agent removes each key that changes in one Pod from the other, and is ready.
	Moved Role = "moved"

	// Send is the role of a Pod that holds the last slot, which is to be removed. The agent copies each key to the server
	// where clients will look for it according to Scale, and is ready once all keys are copied; from then on it removes
	// each key that changes in one Pod from the others. In the first seconds of this role, the agent is never ready, so
	// that the operator sees that the copy began.
	Send Role = "send"

	// Leave is the role of a Pod that gave its slot away. The agent ends memcached after End, and stays ready.
	Leave Role = "leave"
)

// State is the state of the slot in the status of the cache.
type State string

// States.
const (
	StateServing State = "Serving"
	StateCopying State = "Copying"
	StateCold    State = "Cold"
)

// Instruction is the content of the annotation. The zero Instruction means that the Pod has none. Two instructions with
// the same meaning are equal by == after Normal, and have the same JSON.
type Instruction struct {
	// Slot is the name of the slot, such as shop-2. Every role but None has one.
	Slot string `json:"slot,omitempty"`

	// Role is what the agent does.
	Role Role `json:"role,omitempty"`

	// From is the IP address of the Pod that held the slot before, without a port. Receive and Moved need it, unless they
	// have Scale.
	From string `json:"from,omitempty"`

	// Scale is how clients' list of servers changes: with Scale, the role Receive copies from each other Pod the keys that
	// clients will look for in this Pod. Send needs it.
	Scale Scale `json:"scale,omitzero"`

	// Rate is the limit of the copy in bytes per second. 0 means no limit.
	Rate int64 `json:"rate,omitempty"`

	// Within is for how many seconds the Pod at From is certain to exist, counted from when the agent reads the
	// instruction. The copy exceeds Rate if it would otherwise not be complete before that time is over. 0 means that no
	// end is known.
	Within int64 `json:"within,omitempty"`

	// Since is when the operator gave this role, in whole seconds. A changed Since means another attempt: the agent
	// begins again.
	Since time.Time `json:"since,omitzero"`

	// End is for how many seconds a Pod with the role Leave still serves, counted from when the agent reads the
	// instruction, because the clocks of two Nodes may differ.
	End int64 `json:"end,omitempty"`

	// Memory is the memory for items that memcached is to have, in bytes and whole mebibytes, if it was started with
	// another amount. 0 means the memory that it was started with. It applies to every role.
	Memory int64 `json:"memory,omitempty"`

	// Record is what the operator notes for itself. The agent ignores it: a change to the record alone is no new
	// instruction.
	Record Record `json:"record,omitzero"`
}

// Record is what the operator remembers about the Pod.
type Record struct {
	// State is the state of the slot in the status.
	State State `json:"state,omitempty"`

	// CopySeconds is the time from the instruction with the role Receive until this Pod held the slot.
	CopySeconds int64 `json:"copySeconds,omitempty"`

	// Reason is why the slot is cold or its handoff was given up: one of the API's reasons. It is empty if all went well.
	Reason string `json:"reason,omitempty"`

	// StateSince is when State began. It stays the same when only the role changes, such as from Moved to Serve.
	StateSince time.Time `json:"stateSince,omitzero"`

	// MovedAt is when the slot moved to this Pod (Moved, Serve) or away from it (Leave).
	MovedAt time.Time `json:"movedAt,omitzero"`

	// Predecessor is the uid of the Pod that this Pod succeeds in its slot. An IP address would not identify that Pod,
	// because the address of a deleted Pod is used again.
	Predecessor string `json:"predecessor,omitempty"`

	// Began is when the operator saw an agent with the role Send not ready: from then on, its readiness shows whether
	// the copy is complete.
	Began time.Time `json:"began,omitzero"`

	// FormerMemory is the largest memory for items that this Pod had, in bytes, if it was ever changed.
	FormerMemory int64 `json:"formerMemory,omitempty"`

	// MemoryAt is when the operator first decided about the memory of this Pod, which had no slot then.
	MemoryAt time.Time `json:"memoryAt,omitzero"`

	// OldFailure is when the agent had last failed before the Pod got its slot. A later failure belongs to this handoff.
	// The two times can be compared, because they are from the same clock.
	OldFailure time.Time `json:"oldFailure,omitzero"`
}

// Order returns the part that the agent follows: the instruction without the operator's record.
func (i Instruction) Order() Instruction {
	i.Record = Record{}
	return i.Normal()
}

// Normal returns the instruction with all times in UTC and whole seconds, so that == compares the meaning.
func (i Instruction) Normal() Instruction {
	for _, at := range i.times() {
		*at = at.UTC().Truncate(time.Second)
	}
	return i
}

func (i *Instruction) times() []*time.Time {
	return []*time.Time{&i.Since, &i.Record.StateSince, &i.Record.MovedAt, &i.Record.Began, &i.Record.MemoryAt,
		&i.Record.OldFailure}
}

// Encode returns the JSON for the annotation. Equal instructions have equal JSON; the zero Instruction has none.
func (i Instruction) Encode() string {
	if i = i.Normal(); i == (Instruction{}) {
		return ""
	}
	content, err := json.Marshal(i)
	if err != nil {
		panic(err) // only a year after 9999 can't be encoded, and no clock has one
	}
	return string(content)
}

// Decode reads the annotation. An empty annotation is the zero Instruction. An error means that the content can't be
// followed: the agent then keeps doing what it did, and the operator writes the annotation again.
func Decode(content string) (Instruction, error) {
	if strings.TrimSpace(content) == "" {
		return Instruction{}, nil
	}
	var i Instruction
	if err := json.Unmarshal([]byte(content), &i); err != nil {
		return Instruction{}, fmt.Errorf("the instruction is not valid JSON: %w", err)
	}
	i = i.Normal()
	if err := i.validate(); err != nil {
		return Instruction{}, err
	}
	return i, nil
}

const mebibyte = 1 << 20

// longestEnd limits End and Within, in seconds: a time.Duration can't have much larger values.
const longestEnd = 24 * 60 * 60

func (i Instruction) validate() error {
	if err := i.validateRole(); err != nil {
		return err
	}
	if err := i.Scale.validate(); err != nil {
		return fmt.Errorf("role %s: %w", i.Role, err)
	}
	switch {
	case i.Role != None && i.Slot == "":
		return fmt.Errorf("role %s: slot is empty", i.Role)
	case i.Rate < 0:
		return fmt.Errorf("rate %d is negative", i.Rate)
	case i.End < 0 || i.End > longestEnd:
		return fmt.Errorf("end %d is not within 0 and %d", i.End, longestEnd)
	case i.Within < 0 || i.Within > longestEnd:
		return fmt.Errorf("within %d is not within 0 and %d", i.Within, longestEnd)
	case i.Memory < 0 || i.Memory%mebibyte != 0:
		return fmt.Errorf("memory %d is no number of whole mebibytes", i.Memory)
	case i.Record.CopySeconds < 0:
		return fmt.Errorf("record: copySeconds %d is negative", i.Record.CopySeconds)
	}
	for _, at := range i.times() {
		if at.Year() < 1 || at.Year() > 9999 {
			return fmt.Errorf("the year %d can't be encoded", at.Year())
		}
	}
	return nil
}

// validateRole checks that the fields are set that a role needs.
func (i Instruction) validateRole() error {
	switch i.Role {
	case None, Serve, Cold, Leave:
	case Receive, Moved:
		if _, err := netip.ParseAddr(i.From); err != nil && i.Scale == (Scale{}) {
			return fmt.Errorf("role %s: from %q is no IP address", i.Role, i.From)
		}
	case Send:
		if i.Scale == (Scale{}) {
			return fmt.Errorf("role %s: scale is missing", i.Role)
		}
	default:
		return fmt.Errorf("role %q is unknown", i.Role)
	}
	return nil
}
