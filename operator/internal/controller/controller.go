// Package controller reconciles Memcacheds: observe, plan, render, apply, status.
package controller

// Reconcile runs the five steps in order; every return path goes through status.Evaluate.

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/metrics"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
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
	client   client.Client
	observe  observe.Collector
	secrets  *secretWatch
	cordons  *cordonWatch
	syncer   *apply.Syncer
	defaults Defaults
	events   events.EventRecorder
	nodes    *nodes
	statuses *statuses
	updates  *updateQueue
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
	in := r.sync(ctx, mc)
	in.Nodes = r.nodes.lookFor(ctx, in)
	result, err := r.report(ctx, in)
	if err != nil {
		return ctrl.Result{}, err
	}
	return untilExpiry(in, r.nodes.lookAgain(in, result)), nil
}

// sync runs all steps before the status, until one fails, and returns what they found.
func (r *Reconciler) sync(ctx context.Context, mc *cachev1.Memcached) status.Input {
	in := status.Input{Memcached: mc, Now: time.Now()}
	if in.Err = errors.Join(r.secrets.startFor(mc), r.cordons.startFor(mc)); in.Err != nil {
		return in
	}
	if in.Snapshot, in.Err = r.observe.Collect(ctx, mc); in.Err != nil {
		return in
	}
	r.plan(ctx, &in)
	switch {
	case in.Plan.Pause: // Even if the rest of the spec is invalid.
		in.Report = r.syncer.Pause(ctx, mc, in.Snapshot)
	case in.Plan.Suspended:
	case in.Err == nil:
		in.Report = r.syncer.Sync(ctx, mc, in.Snapshot, render.Objects(in.Plan))
		r.syncPods(ctx, &in)
	case in.Plan.KeepsSlots():
		in.Report = r.syncer.SyncExisting(ctx, mc, in.Snapshot, render.KeptObjects(in.Plan))
		r.syncPods(ctx, &in)
	}
	return in
}

// syncPods changes the Pods as their slots require.
func (r *Reconciler) syncPods(ctx context.Context, in *status.Input) {
	if in.Plan.Slots == nil || len(in.Plan.Slots.Changes) == 0 {
		return
	}
	in.PodsChanged, in.PodsErr = r.syncer.SyncPods(ctx, in.Memcached, in.Snapshot, in.Plan.Slots.Changes)
}

// plan computes the plan. A cache with updatePolicy Automatic may be queued for its update.
func (r *Reconciler) plan(ctx context.Context, in *status.Input) {
	mc, current, defaults := in.Memcached, in.Snapshot.Current(), r.defaults(ctx)
	defaults.Queued, defaults.Now = true, in.Now
	in.Plan, in.Err = plan.Compute(mc, current, defaults)
	if turn := r.updates.enter(*in); turn.phase == updating {
		in.Updating = !turn.unready
		defaults.Queued = false
		in.Plan, in.Err = plan.Compute(mc, current, defaults)
	}
}

// report writes the status if it differs, then the events, and decides whether to reconcile again.
func (r *Reconciler) report(ctx context.Context, in status.Input) (result ctrl.Result, err error) {
	now := status.Evaluate(in)
	r.updates.settle(in, now)
	defer func() { r.metrics.Reconciled(in, now, err) }()
	wait, err := r.writeStatus(ctx, in.Memcached, now)
	if err != nil {
		return ctrl.Result{}, errors.Join(in.Err, in.Report.Err(), err)
	}
	if wait > 0 {
		now = in.Memcached.Status // Events follow the status that is written.
	}
	r.metrics.StatusReported(in, now)
	for _, event := range eventsOf(in, now) {
		event.record(r.events, in.Memcached)
	}
	if result, err = retry(in, wait); err == nil {
		result.RequeueAfter = sooner(result.RequeueAfter, min(status.Deadline(in, now), longestWait))
	}
	return result, err
}

// retry decides whether to reconcile again without an event. The status may have to be written later.
func retry(in status.Input, wait time.Duration) (ctrl.Result, error) {
	err := in.Report.Err()
	if _, invalid := errors.AsType[*plan.InvalidSpec](in.Err); !invalid {
		// A retry of an invalid spec would end the same way, and the status names the fix. A pause of a rollout may
		// succeed.
		err = errors.Join(in.Err, in.Snapshot.Err(), err)
	}
	if err = errors.Join(err, in.PodsErr); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: sooner(sooner(wait, in.Report.RetryAfter()), slotsAfter(in))}, nil
}

// slotsAfter returns when to decide about slots again without an event.
func slotsAfter(in status.Input) time.Duration {
	switch {
	case in.Plan.Slots == nil:
		return 0
	case in.PodsChanged:
		return changedRetry
	}
	return in.Plan.Slots.RequeueAfter
}

// sooner returns the shorter of two waits; 0 means no wait.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// changedRetry is how soon to reconcile again if the Memcached was changed or replaced before its status was written.
// Usually the event of the change arrives first, but the predicates may ignore it, as for a finalizer.
const changedRetry = time.Second

// writeStatus writes the status if it differs. It returns how long the write has to wait: because another client
// keeps overwriting the status, or because the Memcached is no longer the one that was read.
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
		return 0, nil // It was deleted since it was read.
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
