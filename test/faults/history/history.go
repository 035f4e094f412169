// Package history records what happened in a run: each state that the API server stored, which client wrote it, each
// request of the operator, and the steps of the plan. It uses the API server's watches and its audit log, and none of
// the operator's code.
package history

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/internal/testing/consistency"
)

// History has the entries in the order in which they happened. States are ordered by their resource versions, which is
// the order of the API server's writes; everything else is placed among them by its time.
type History struct {
	Namespace string  `json:"namespace"`
	Operator  string  `json:"operator"` // the operator's user name
	Entries   []Entry `json:"entries"`
}

// Entry has exactly one of Step, State, Request, Access and Delay.
type Entry struct {
	Time time.Time `json:"time"`

	// Step is a step of the plan, or a phase of the run: PhaseFaultsOver and so on.
	Step string `json:"step,omitempty"`

	// State is an object as the API server stored it.
	State *State `json:"state,omitempty"`

	// Request is a write that stored no new state (because it failed, or changed nothing), or a read by the operator.
	Request *audit.Request `json:"request,omitempty"`

	// Access is a request of a memcached client, and its result.
	Access *consistency.Access `json:"access,omitempty"`

	// Delay is a time during which the operator may not have learned of changes.
	Delay *Delay `json:"delay,omitempty"`
}

// Delay is a time during which an operator, its watches or its requests were held up. It is recorded when it is over.
type Delay struct {
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended"`
	What  string    `json:"what"`
}

// State is an object as a write has left it.
type State struct {
	Type   watch.EventType            `json:"type"` // Added, Modified or Deleted
	Object *unstructured.Unstructured `json:"object"`

	// By is the request that wrote this state. It is nil if the audit log does not have the request.
	By *audit.Request `json:"by,omitempty"`
}

// These are the phases of a run.
const (
	PhaseStarted    = "phase: the operator runs, the caches are created"
	PhaseFaultsOver = "phase: all faults are over"
	PhaseAtRest     = "phase: at rest" // until PhaseRepaired, nothing may be written
	PhaseRepaired   = "phase: each Memcached has a simple spec again"
	PhaseReady      = "phase: each Memcached is to be Ready" // until PhaseDeleted, nothing may be written, either
	PhaseDeleted    = "phase: all Memcacheds are deleted"
	PhaseEnd        = "phase: end"
)

// Holds is the annotation that says which kind of content a Secret has: HoldsValid, or another kind.
const (
	Holds      = "faults.example.com/holds"
	HoldsValid = "valid"
)

// EndedByItself is the beginning of a step that no one requested: a process of the operator ended. The rest of the step
// says how.
const EndedByItself = "the operator ended by itself"

// Logged is the beginning of a step that has a line of the operator's log.
const Logged = "the operator logged: "

// The operator may not log these texts.
const (
	// Panic is the text that Kubernetes' libraries log for a panic from which the program recovers.
	Panic = "Observed a panic"

	// SecretMarker is in each value of the Secrets that the campaign writes.
	SecretMarker = "do-not-show"
)

// secretMarkers are the marker itself, and its forms in base64. There is one form for each offset at which the marker
// may begin in the encoded text, without the characters that depend on the text around it.
var secretMarkers = []string{
	SecretMarker, base64Of(SecretMarker[:9]), base64Of(SecretMarker[1:10]), base64Of(SecretMarker[2:11]),
}

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// IsSecret reports whether a text shows a part of a Secret, even in base64.
func IsSecret(text string) bool {
	return slices.ContainsFunc(secretMarkers, func(marker string) bool { return strings.Contains(text, marker) })
}

// IsForbidden reports whether the operator may not log a line.
func IsForbidden(line string) bool { return strings.Contains(line, Panic) || IsSecret(line) }

// String describes the entry in a line for people.
func (e Entry) String() string {
	at := e.Time.Format("15:04:05.000")
	switch {
	case e.State != nil:
		return fmt.Sprintf("%s %s (version %s)", at, e.State, e.State.Object.GetResourceVersion())
	case e.Request != nil:
		return fmt.Sprintf("%s %s: %s %s %s", at, Client(e.Request), e.Request.Verb, target(e.Request), code(e.Request))
	case e.Access != nil:
		return at + " " + e.Access.String()
	case e.Delay != nil:
		return fmt.Sprintf("%s delayed for %v: %s", at, e.Delay.Ended.Sub(e.Delay.Began), e.Delay.What)
	}
	return at + " == " + e.Step
}

// String returns a text like "operator: apply Deployment a".
func (s State) String() string {
	verb := map[watch.EventType]string{watch.Added: "create", watch.Deleted: "delete"}[s.Type]
	who := "unknown"
	if s.By != nil {
		who = Client(s.By)
	}
	if verb == "" {
		verb = "change"
		if s.By != nil && s.By.ObjectRef.Subresource != "" {
			verb += " " + s.By.ObjectRef.Subresource + " of"
		}
	}
	return fmt.Sprintf("%s: %s %s %s", who, verb, s.Object.GetKind(), s.Object.GetName())
}

// Client returns a short name of the client that sent a request: the name of its service account or user. For an
// operator, it adds the time when the process started.
func Client(q *audit.Request) string {
	name := q.User.Username
	if parts := strings.Split(name, ":"); len(parts) == 4 && parts[1] == "serviceaccount" {
		name = parts[3]
	}
	if started := ProcessOf(q).Started(); !started.IsZero() {
		return "operator of " + started.Format("15:04:05.000")
	}
	return name
}

// target is the resource and name that a request is for.
func target(q *audit.Request) string {
	return strings.TrimSpace(q.Resource() + " " + q.ObjectRef.Name)
}

// code returns the status code of the answer and, if it is an error, its meaning.
func code(q *audit.Request) string {
	if q.Response.Code < http.StatusBadRequest {
		return fmt.Sprint(q.Response.Code)
	}
	return fmt.Sprintf("%d %s", q.Response.Code, http.StatusText(q.Response.Code))
}
