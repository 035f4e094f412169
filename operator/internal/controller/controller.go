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
	machines *machines
	statuses *statuses
	waves    *waves
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
	pass := r.sync(ctx, mc)
	pass.Machines = r.machines.lookFor(ctx, pass)
	result, err := r.report(ctx, pass)
	if err != nil {
		return ctrl.Result{}, err
	}
	return untilExpiry(pass, r.machines.lookAgain(pass, result)), nil
}

// sync goes as far as it can, and returns all that it learned.
func (r *Reconciler) sync(ctx context.Context, mc *cachev1.Memcached) status.Input {
	pass := status.Input{Memcached: mc, Now: time.Now()}
	if pass.Err = r.secrets.startFor(mc); pass.Err != nil {
		return pass
	}
	if pass.Snapshot, pass.Err = r.observe.Collect(ctx, mc); pass.Err != nil {
		return pass
	}
	r.plan(ctx, &pass)
	switch {
	case pass.Plan.Hold: // Also where the rest of the spec is invalid.
		pass.Report = r.syncer.Hold(ctx, mc, pass.Snapshot)
	case pass.Err == nil && !pass.Plan.Suspended:
		pass.Report = r.syncer.Sync(ctx, mc, pass.Snapshot, render.Objects(pass.Plan))
	}
	return pass
}

// plan computes the plan. A cache with updatePolicy Automatic has to wait for its turn to be updated.
func (r *Reconciler) plan(ctx context.Context, pass *status.Input) {
	mc, current, defaults := pass.Memcached, pass.Snapshot.Current(), r.defaults(ctx)
	defaults.AwaitTurn = true
	pass.Plan, pass.Err = plan.Compute(mc, current, defaults)
	if turn := r.waves.enter(*pass); turn.phase == updating {
		pass.Updating = !turn.unready
		defaults.AwaitTurn = false
		pass.Plan, pass.Err = plan.Compute(mc, current, defaults)
	}
}

// report writes the status if it differs, then the events, and decides whether the pass is to be repeated.
func (r *Reconciler) report(ctx context.Context, pass status.Input) (result ctrl.Result, err error) {
	now := status.Evaluate(pass)
	r.waves.settle(pass, now)
	defer func() { r.metrics.Pass(pass, now, err) }()
	wait, err := r.writeStatus(ctx, pass.Memcached, now)
	if err != nil {
		return ctrl.Result{}, errors.Join(pass.Err, pass.Report.Err(), err)
	}
	if wait > 0 {
		now = pass.Memcached.Status // Events go with a status that is written.
	}
	for _, notice := range eventsOf(pass, now) {
		notice.record(r.events, pass.Memcached)
	}
	if result, err = retry(pass, wait); err == nil {
		result.RequeueAfter = sooner(result.RequeueAfter, min(status.Deadline(pass, now), longestWait))
	}
	return result, err
}

// retry tells whether a pass is worth repeating before something changes. The status may have to wait.
func retry(pass status.Input, wait time.Duration) (ctrl.Result, error) {
	err := pass.Report.Err()
	if _, invalid := errors.AsType[*plan.InvalidSpec](pass.Err); !invalid {
		// An invalid spec would end the same way, and the status says what would help. A pause beside it may succeed.
		err = errors.Join(pass.Err, pass.Snapshot.Err(), err)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: sooner(wait, pass.Report.RetryAfter())}, nil
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
