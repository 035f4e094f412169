// Package controller reconciles Memcacheds: observe, plan, render, apply, status.
package controller

// Reconcile runs the steps in order; if the Memcached exists, every return path goes through status.Evaluate.

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/desired"
	"github.com/example-inc/memcached-operator/operator/internal/metrics"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
	"github.com/example-inc/memcached-operator/operator/internal/reports"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=get;list;watch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=patch
// OpenShift requires this for owner references that block the deletion of their owner.
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconciler reconciles the managed objects and the status of Memcacheds.
type Reconciler struct {
	client       client.Client
	observe      observe.Collector
	secrets      *secretWatch
	slots        *slotWatch
	bindings     *bindingWatch
	certificates *certificateWatch
	rights       *rights // the rights that discovery needs

	syncer   *apply.Syncer
	defaults Defaults
	events   events.EventRecorder
	nodes    *nodes
	statuses *statuses
	updates  *updateQueue
	reports  *reports.Reader
	metrics  *metrics.Metrics
}

// Defaults returns the operator's current defaults for Pods.
type Defaults func(ctx context.Context) plan.Defaults

// Reconcile brings one cache to the desired state, and reports it in the status.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	mc := &cachev1.Memcached{}
	switch err := r.client.Get(ctx, request.NamespacedName, mc); {
	case apierrors.IsNotFound(err):
		r.secrets.memory.Forget(request.NamespacedName)
		r.syncer.Forget(request.NamespacedName)
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("read the Memcached: %w", err)
	}
	return r.reconcile(ctx, mc)
}

func (r *Reconciler) reconcile(ctx context.Context, mc *cachev1.Memcached) (ctrl.Result, error) {
	if !mc.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil // The garbage collector deletes the owned objects.
	}
	c := &reconciliation{memcached: mc, now: time.Now()}
	if c.err = r.look(ctx, c); c.err == nil {
		c.err = r.plan(ctx, c)
		r.apply(ctx, c)
	}
	c.nodes, c.nodesAge = r.nodes.lookFor(ctx, c)
	return r.report(ctx, c)
}

// look observes the current state.
func (r *Reconciler) look(ctx context.Context, c *reconciliation) error {
	err := r.secrets.startFor(c.memcached)
	if err != nil {
		return err
	}
	var has observe.Extras
	if has.Slots, c.missingRights, err = r.slots.startFor(ctx, c.memcached); err != nil {
		return err
	}
	if has.Binding, c.missingBindingRights, err = r.bindings.startFor(ctx, c.memcached); err != nil {
		return err
	}
	if has.Certificate, c.noCertificates, err = r.certificates.startFor(ctx, c.memcached); err != nil {
		return err
	}
	if c.missingDiscoveryRights, err = r.missingForDiscovery(ctx, c.memcached); err != nil {
		return err
	}
	c.snapshot, err = r.observe.Collect(ctx, c.memcached, has)
	c.snapshot.Usage = r.reports.Of(client.ObjectKeyFromObject(c.memcached))
	return err
}

// plan computes the plan. A cache with updatePolicy Automatic may be queued for its update.
func (r *Reconciler) plan(ctx context.Context, c *reconciliation) error {
	defaults := r.defaults(ctx)
	defaults.Now, defaults.MissingRights = c.now, c.missingRights
	defaults.MissingDiscoveryRights, defaults.MissingBindingRights = c.missingDiscoveryRights, c.missingBindingRights
	defaults.NoCertificates = c.noCertificates
	draft, err := plan.Resolve(c.memcached, c.snapshot.Current(), defaults)
	if err == nil {
		draft, c.template = desired.Choose(draft)
	}
	entry := r.updates.enter(c.candidate(draft))
	if err != nil {
		return err
	}
	if entry.phase == updating {
		c.updating = !entry.unready
		if draft.IsPending() {
			draft, c.template = desired.Update(draft)
		}
	}
	c.outcome = draft.Outcome(c.template.Hash)
	return nil
}

// apply writes the managed objects, and changes the Pods as their slots require.
func (r *Reconciler) apply(ctx context.Context, c *reconciliation) {
	c.pause = plan.MustPause(c.memcached, c.snapshot.Deployment())
	planned, valid := plan.Of(c.outcome)
	switch {
	case c.pause: // Even if the rest of the spec is invalid.
		c.report = r.syncer.Pause(ctx, c.memcached, c.snapshot)
		return
	case c.memcached.Spec.Suspend:
		return
	case valid:
		objects := render.Objects(planned, c.template, c.snapshot.Deployment())
		c.report = r.syncer.Sync(ctx, c.memcached, c.snapshot, objects)
	case c.kept() != nil:
		c.report = r.syncer.SyncExisting(ctx, c.memcached, c.snapshot, render.KeptObjects(*c.kept()))
	}
	if decided := c.slots(); len(decided.Changes) > 0 {
		c.podsWritten, c.podsChanged, c.podsErr = r.syncer.SyncPods(ctx, c.memcached, c.snapshot, decided.Changes)
	}
	c.bootstrapErr = r.syncer.SyncBootstrap(ctx, c.memcached, planned.Bootstrap)
	c.discoveryErr = r.syncer.SyncDiscovery(ctx, c.memcached, c.discovery().Changes)
}

// report writes the status if it changed, records the events, and decides when to reconcile again.
func (r *Reconciler) report(ctx context.Context, c *reconciliation) (result ctrl.Result, err error) {
	c.input = c.statusInput()
	c.status = status.Evaluate(c.input)
	r.updates.settle(c.memcached, c.status)
	defer func() { r.metrics.Reconciled(c.memcached, c.report, c.status, err) }()
	c.statusWait, err = r.writeStatus(ctx, c.memcached, c.status)
	if err != nil {
		r.record(ctx, c, eventsOfObjects(c)) // The next reconciliation would not find these events.
		return ctrl.Result{}, errors.Join(c.err, c.report.Err(), err)
	}
	if c.statusWait > 0 {
		c.status = c.memcached.Status // Events are about the status that is written.
	}
	r.metrics.StatusReported(c.memcached.Status, c.status, c.slots().Slots)
	r.record(ctx, c, eventsOf(c))
	if err = c.failure(); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: c.again()}, nil
}

// record records and logs events, and logs the new instructions of Pods.
func (r *Reconciler) record(ctx context.Context, c *reconciliation, found []pendingEvent) {
	logger := log.FromContext(ctx)
	logInstructions(logger, c.snapshot.Slots.Pods, c.podsWritten)
	for _, event := range found {
		event.record(logger, r.events, c.memcached)
	}
}

// changedRetry is how soon to reconcile again if the Memcached was changed or replaced before its status was written.
// Usually the event of the change arrives first, but the predicates ignore some changes, such as those to finalizers.
const changedRetry = time.Second

// writeStatus writes the status if it changed. It returns how long the write has to wait. The write has to wait if
// another client keeps overwriting the status, or if the Memcached was changed or replaced since it was read.
func (r *Reconciler) writeStatus(
	ctx context.Context, mc *cachev1.Memcached, now cachev1.MemcachedStatus,
) (time.Duration, error) {
	if !status.Differs(mc.Status, now) {
		return 0, nil
	}
	if wait := r.statuses.wait(mc, now); wait > 0 {
		return wait, nil
	}
	patched, err := r.patchStatus(ctx, mc, now)
	switch {
	case apierrors.IsNotFound(err):
		return 0, nil // The Memcached was deleted since it was read.
	case apierrors.IsConflict(err):
		return changedRetry, nil
	}
	r.metrics.StatusWritten(err)
	if err != nil {
		return 0, fmt.Errorf("write the status: %w", err)
	}
	r.statuses.note(mc, patched)
	return 0, nil
}
