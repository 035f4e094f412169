package controller

// Collects the results of the steps of one reconciliation.

import (
	"errors"
	"time"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/discovery"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// reconciliation collects the results of the steps of one reconciliation. Fields that are unknown because of an error
// are zero.
type reconciliation struct {
	memcached *cachev1.Memcached
	now       time.Time

	// missingRights are rights that slots need and the operator does not have; empty if the Memcached has no slots.
	missingRights []string

	// missingDiscoveryRights are the missing rights that discovery needs, and missingBindingRights those that a binding
	// needs.
	missingDiscoveryRights, missingBindingRights []string

	// noCertificates is why no certificates can be requested; empty if they can, or if the Memcached has no issuer.
	noCertificates string

	// snapshot is the observed state.
	snapshot observe.Snapshot

	// outcome is the result of the step plan, and template the Pod template of that plan.
	outcome  plan.Outcome
	template render.Template

	// updating: the cache is being updated to the operator's defaults, until it is Ready.
	updating bool

	// pause: the rollout in progress is paused, and nothing else is applied.
	pause bool

	// report has the result for each managed object.
	report apply.Report

	// podsWritten are the changes that the operator wrote to Pods for their slots.
	podsWritten []slots.Change

	// discoveryErr is why the servers of the cache could not be announced to a Pod.
	discoveryErr error

	// bootstrapErr is why the Pod that copies the keys of other servers was not instructed.
	bootstrapErr error

	// podsErr is why a Pod could not be changed for its slot. podsChanged: another client changed a Pod before the
	// operator could change it.
	podsErr     error
	podsChanged bool

	// nodes are the Nodes of the cluster, as they were nodesAge ago, if the reconciliation needs them.
	nodes    observe.Nodes
	nodesAge time.Duration

	// err is the error that ended the reconciliation before there was a plan.
	err error

	// input is the input of status.Evaluate. status is the result of status.Evaluate or, if the new status can't be
	// written yet, the current status of the Memcached.
	input      status.Input
	status     cachev1.MemcachedStatus
	statusWait time.Duration
}

// statusInput returns the input of the status, once all other steps have ended.
func (c *reconciliation) statusInput() status.Input {
	in := status.Input{
		Memcached: c.memcached, Snapshot: c.snapshot, Report: c.report, Pause: c.pause, Updating: c.updating,
		PodsErr: c.writeErr(), Nodes: c.nodes, Now: c.now, Err: c.err,
		NoCertificates: c.noCertificates,
	}
	switch outcome := c.outcome.(type) {
	case plan.Ready:
		in.Plan = outcome.Plan
	case plan.Blocked:
		in.Plan, in.Blocked = outcome.Plan, outcome.By
	case plan.Invalid:
		in.Invalid = &outcome
	}
	return in
}

// kept returns the plan for the slots if the spec is invalid and the cache has slots; otherwise it returns nil.
func (c *reconciliation) kept() *plan.Plan {
	invalid, _ := c.outcome.(plan.Invalid)
	return invalid.Kept
}

// slots returns the decision about the slots; it is zero without slots.
func (c *reconciliation) slots() slots.Decision {
	planned, _ := plan.Of(c.outcome)
	if kept := c.kept(); kept != nil {
		planned = *kept
	}
	if planned.Slots == nil {
		return slots.Decision{}
	}
	return planned.Slots.Decision
}

// autoscaling returns the decisions about memory and the number of Pods that follow the use of the cache; they are zero
// without a plan.
func (c *reconciliation) autoscaling() plan.Autoscaling {
	planned, _ := plan.Of(c.outcome)
	return planned.Autoscaling
}

// discovery returns the decision about which Pods announce which servers; it is zero without discovery.
func (c *reconciliation) discovery() discovery.Decision {
	if planned, ok := plan.Of(c.outcome); ok && planned.Discovery != nil {
		return planned.Discovery.Decision
	}
	invalid, _ := c.outcome.(plan.Invalid)
	return invalid.Discovery
}

// failure returns the errors for which the reconciliation is repeated. The reconciliation of an invalid spec is not
// repeated, because it would end the same way, and the status names the fix. If the pause of a rollout failed, the
// reconciliation is repeated even then, because the next attempt may succeed.
func (c *reconciliation) failure() error {
	err := errors.Join(c.err, c.snapshot.Err())
	if _, invalid := c.outcome.(plan.Invalid); invalid {
		err = nil
	}
	return errors.Join(err, c.report.Err(), c.writeErr())
}

// writeErr returns why Pods could not be changed.
func (c *reconciliation) writeErr() error {
	return errors.Join(c.podsErr, c.discoveryErr, c.bootstrapErr)
}
