// Package controller reconciles Memcacheds: observe, plan, render, apply, status.
package controller

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
// Owner references that block the deletion of their owner need this where the API server enforces it (OpenShift).
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconciler makes the cluster what Memcacheds say.
type Reconciler struct {
	client   client.Client
	observe  observe.Collector
	secrets  *secretWatch
	syncer   *apply.Syncer
	defaults Defaults
	events   events.EventRecorder
	nodes    *nodes
	statuses *statuses
	updates  *updateQueue
	metrics  *metrics.Metrics
}

// Defaults returns what the operator would make Pods of now.
type Defaults func(ctx context.Context) plan.Defaults

// Reconcile makes one cache what its spec says, and its status what it is like.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	mc := &cachev1.Memcached{}
	switch err := r.client.Get(ctx, request.NamespacedName, mc); {
	case apierrors.IsNotFound(err):
		r.observe.Secrets.Forget(request.NamespacedName)
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("read the Memcached: %w", err)
	}
	return r.reconcile(ctx, mc)
}

func (r *Reconciler) reconcile(ctx context.Context, mc *cachev1.Memcached) (ctrl.Result, error) {
	if !mc.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil // The children go by their owner references.
	}
	in := r.sync(ctx, mc)
	in.Nodes = r.nodes.lookFor(ctx, in)
	result, err := r.report(ctx, in)
	if err != nil {
		return ctrl.Result{}, err
	}
	return untilExpiry(in, r.nodes.lookAgain(in, result)), nil
}

// sync goes as far as it can, and returns all that it learned.
func (r *Reconciler) sync(ctx context.Context, mc *cachev1.Memcached) status.Input {
	in := status.Input{Memcached: mc, Now: time.Now()}
	if in.Err = r.secrets.startFor(mc); in.Err != nil {
		return in
	}
	if in.Snapshot, in.Err = r.observe.Collect(ctx, mc); in.Err != nil {
		return in
	}
	r.plan(ctx, &in)
	switch {
	case in.Plan.Pause: // Also where the rest of the spec is invalid.
		in.Report = r.syncer.Pause(ctx, mc, in.Snapshot)
	case in.Err == nil && !in.Plan.Suspended:
		in.Report = r.syncer.Sync(ctx, mc, in.Snapshot, render.Objects(in.Plan))
	}
	return in
}

// plan computes the plan. A cache with updatePolicy Automatic has to wait for its turn to be updated.
func (r *Reconciler) plan(ctx context.Context, in *status.Input) {
	mc, current, defaults := in.Memcached, in.Snapshot.Current(), r.defaults(ctx)
	defaults.Queued = true
	in.Plan, in.Err = plan.Compute(mc, current, defaults)
	if turn := r.updates.enter(*in); turn.phase == updating {
		in.Updating = !turn.unready
		defaults.Queued = false
		in.Plan, in.Err = plan.Compute(mc, current, defaults)
	}
}

// report writes the status if it differs, then the events, and decides whether the pass is to be repeated.
func (r *Reconciler) report(ctx context.Context, in status.Input) (result ctrl.Result, err error) {
	now := status.Evaluate(in)
	r.updates.settle(in, now)
	defer func() { r.metrics.Reconciled(in, now, err) }()
	wait, err := r.writeStatus(ctx, in.Memcached, now)
	if err != nil {
		return ctrl.Result{}, errors.Join(in.Err, in.Report.Err(), err)
	}
	if wait > 0 {
		now = in.Memcached.Status // Events go with a status that is written.
	}
	for _, event := range eventsOf(in, now) {
		event.record(r.events, in.Memcached)
	}
	if result, err = retry(in, wait); err == nil {
		result.RequeueAfter = sooner(result.RequeueAfter, min(status.Deadline(in, now), longestWait))
	}
	return result, err
}

// retry tells whether a pass is worth repeating before something changes. The status may have to wait.
func retry(in status.Input, wait time.Duration) (ctrl.Result, error) {
	err := in.Report.Err()
	if _, invalid := errors.AsType[*plan.InvalidSpec](in.Err); !invalid {
		// An invalid spec would end the same way, and the status says what would help. A pause beside it may succeed.
		err = errors.Join(in.Err, in.Snapshot.Err(), err)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: sooner(wait, in.Report.RetryAfter())}, nil
}

// sooner is the shorter of two waits. One of 0 never ends.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// changedRetry is how soon a pass is repeated whose Memcached was changed or replaced before its status was written.
// The event that tells of the change is on its way, but may be one that is no news, such as that of a finalizer.
const changedRetry = time.Second

// writeStatus writes the status if it differs. It returns how long the status is left as it is: in a fight, or because
// the Memcached is not the one that was read any more.
func (r *Reconciler) writeStatus(
	ctx context.Context, mc *cachev1.Memcached, now cachev1.MemcachedStatus,
) (time.Duration, error) {
	if !status.Differs(mc.Status, now) {
		return 0, nil
	}
	if wait := r.statuses.wait(mc, now); wait > 0 {
		return wait, nil
	}
	patched := mc.DeepCopy()
	patched.Status = now
	// The status is of the Memcached as it was read, and not for a namesake made since. The API server ignores the uid
	// in a patch of the status; it compares the resource version.
	asRead := client.MergeFromWithOptions(mc, client.MergeFromWithOptimisticLock{})
	err := r.client.Status().Patch(ctx, patched, asRead)
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
