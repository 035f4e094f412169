package plan

import (
	"strings"

	"github.com/example-inc/memcached-operator/operator/internal/discovery"
)

// Outcome is the answer of this package about a cache: exactly one of Ready, Blocked and Invalid.
type Outcome interface{ isOutcome() }

// Ready has a plan to apply in full, unless Plan.Suspended.
type Ready struct{ Plan Plan }

// Blocked has a plan without the changes that have to wait. If Plan.Suspended, nothing of the plan is applied.
type Blocked struct {
	Plan Plan
	By   Blocker
}

// Invalid is a spec with errors that the schema cannot detect. There is no plan: the objects stay as they are.
type Invalid struct {
	// Problems name the field, the value and the fix.
	Problems []string

	// Endpoint is the address of the existing Pods.
	Endpoint string

	// Discovery has the actions through which clients learn about servers that were added and removed.
	Discovery discovery.Decision

	// Kept is the plan for the slots that the cache has, and for nothing else; nil if it has none. Without this plan, a
	// lost Pod would keep its slot, its replacement would get no slot, and a handoff would never end.
	Kept *Plan
}

// Message returns all problems.
func (i Invalid) Message() string { return strings.Join(i.Problems, "; ") }

// Of returns the plan of an outcome, if it has one.
func Of(outcome Outcome) (Plan, bool) {
	switch outcome := outcome.(type) {
	case Ready:
		return outcome.Plan, true
	case Blocked:
		return outcome.Plan, true
	}
	return Plan{}, false
}

func (Ready) isOutcome()   {}
func (Blocked) isOutcome() {}
func (Invalid) isOutcome() {}

// Blocker is the cause that a plan waits for, such as a missing Secret.
type Blocker string

// Blockers.
const (
	// SecretUnusable means that the Pod template waits because new Pods could not start: a Secret that they need is
	// missing or unusable.
	SecretUnusable Blocker = "SecretUnusable"

	// SlotMoves means that the Pod template waits for the end of a handoff: until the Pod that handed its slot over is
	// deleted.
	SlotMoves Blocker = "SlotMoves"

	// KeysMove means that the Pod template, or the size, waits until no client uses the servers from which the keys of
	// the cache were copied.
	KeysMove Blocker = "KeysMove"

	// UpdateQueued means that the update to the operator's defaults waits for the updates of other caches.
	UpdateQueued Blocker = "UpdateQueued"
)
