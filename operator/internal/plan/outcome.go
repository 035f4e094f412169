package plan

import (
	"strings"

	"github.com/example-inc/memcached-operator/operator/internal/discovery"
)

// Outcome is the answer of this package about a cache: exactly one of Ready, Blocked and Invalid.
type Outcome interface{ isOutcome() }

// Ready has a plan to apply in full, unless Plan.Suspended.
type Ready struct{ Plan Plan }

// Blocked has a plan that leaves out what has to wait. Nothing of it is applied, either, if Plan.Suspended.
type Blocked struct {
	Plan Plan
	By   Blocker
}

// Invalid is a spec with errors that the schema cannot detect. There is no plan: the objects stay as they are.
type Invalid struct {
	// Problems name the field, the value and the fix.
	Problems []string

	// Endpoint is where the existing Pods can be reached.
	Endpoint string

	// Discovery is what to do so that clients learn of the servers that come and go.
	Discovery discovery.Decision

	// Kept is the plan for the slots that the cache has, and for nothing else; nil if it has none. Otherwise a lost Pod
	// would stay in its slot, its replacement would get none, and a handoff would never end.
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
	// SecretUnusable means that the Pod template waits for a Secret with which new Pods can start.
	SecretUnusable Blocker = "SecretUnusable"

	// SlotMoves means that the Pod template waits until the Pod that has just given its slot away is deleted.
	SlotMoves Blocker = "SlotMoves"

	// KeysMove means that the Pod template, or the size, waits until all clients use the cache, and not the servers from
	// which its keys were copied.
	KeysMove Blocker = "KeysMove"

	// UpdateQueued means that the update to the operator's defaults waits for the updates of other caches.
	UpdateQueued Blocker = "UpdateQueued"
)
