// Package snapshots reconciles MemcachedSnapshots: observe, plan, render, apply, status.
package snapshots

// Reconcile creates the Job of a snapshot once, and reports what became of it.

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/controller"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// Without these rights, or without the API, nothing else of the operator changes.
// +kubebuilder:rbac:groups=cache.example.com,resources=memcachedsnapshots,verbs=get;list;watch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcachedsnapshots/status,verbs=patch
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch

const (
	// awaitedRetry is how often to look for what no event reports: a Secret, the Pod of a Job that does not start, or a
	// Job of another client that has the name.
	awaitedRetry = 15 * time.Second

	// changedRetry is how soon to reconcile again if the MemcachedSnapshot was changed before its status was written.
	changedRetry = time.Second
)

// Reconciler writes snapshots.
type Reconciler struct {
	client   client.Client
	observe  observe.SnapshotCollector
	defaults controller.Defaults
	events   events.EventRecorder
}

// Reconcile brings one snapshot forward, and reports it in the status.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	wanted := &cachev1.MemcachedSnapshot{}
	if err := r.client.Get(ctx, request.NamespacedName, wanted); err != nil {
		if apierrors.IsNotFound(err) {
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("read the MemcachedSnapshot: %w", err)
	}
	if !wanted.DeletionTimestamp.IsZero() || status.IsSnapshotOver(wanted) {
		return ctrl.Result{}, nil // The garbage collector deletes the Job.
	}
	in := status.SnapshotInput{Snapshot: wanted, Now: time.Now()}
	in.Err = r.forward(ctx, &in)
	result, err := r.report(ctx, in)
	if err = errors.Join(in.Err, err); err != nil {
		return ctrl.Result{}, err
	}
	return result, nil
}

// forward observes the Job, and creates it unless that was done before.
func (r *Reconciler) forward(ctx context.Context, in *status.SnapshotInput) (err error) {
	if in.Job, in.Taken, err = r.observe.Job(ctx, in.Snapshot); err != nil || in.Taken {
		return err
	}
	mc, err := r.observe.Memcached(ctx, in.Snapshot)
	if err != nil {
		return err
	}
	in.Restricted = mc != nil && mc.Spec.NetworkPolicy != nil && len(mc.Spec.NetworkPolicy.From) > 0
	if in.Job != nil {
		in.Pods, err = r.observe.Pods(ctx, in.Job)
		return err
	}
	if in.Snapshot.Status.StartTime != nil {
		return nil // The Job was deleted.
	}
	current, err := r.observe.Begin(ctx, in.Snapshot, mc)
	if err != nil {
		return err
	}
	defaults := r.defaults(ctx)
	if defaults.Unknown != nil {
		return defaults.Unknown
	}
	planned, unmet := plan.ResolveSnapshot(in.Snapshot, current, defaults)
	if in.Unmet = unmet; unmet != nil {
		return nil
	}
	in.Taken, err = apply.CreateJob(ctx, r.client, render.Snapshot(planned))
	if err != nil || in.Taken {
		return err
	}
	in.Job, in.Taken, err = r.observe.Job(ctx, in.Snapshot)
	return err
}

// report writes the status if it differs, then the event.
func (r *Reconciler) report(ctx context.Context, in status.SnapshotInput) (ctrl.Result, error) {
	now := status.EvaluateSnapshot(in)
	before := in.Snapshot.DeepCopy()
	if !equality.Semantic.DeepEqual(before.Status, now) {
		written := before.DeepCopy()
		written.Status = now
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		switch err := r.client.Status().Patch(ctx, written, patch); {
		case apierrors.IsNotFound(err):
			return ctrl.Result{}, nil
		case apierrors.IsConflict(err):
			return ctrl.Result{RequeueAfter: changedRetry}, nil
		case err != nil:
			return ctrl.Result{}, fmt.Errorf("write the status: %w", err)
		}
		r.record(ctx, before, now)
	}
	if isAwaited(in) {
		return ctrl.Result{RequeueAfter: awaitedRetry}, nil
	}
	return ctrl.Result{}, nil
}

// isAwaited reports whether there is something to wait for that no event reports.
func isAwaited(in status.SnapshotInput) bool {
	switch {
	case in.Job != nil:
		return !observe.IsJobOver(in.Job) && !observe.IsJobBusy(in.Job)
	case in.Unmet != nil:
		return in.Unmet.Reason == cachev1.ReasonSecretNotFound
	}
	return in.Taken
}

// record records an event for a new reason, and logs it.
func (r *Reconciler) record(
	ctx context.Context, snapshot *cachev1.MemcachedSnapshot, now cachev1.MemcachedSnapshotStatus,
) {
	was := meta.FindStatusCondition(snapshot.Status.Conditions, cachev1.ConditionReady)
	is := meta.FindStatusCondition(now.Conditions, cachev1.ConditionReady)
	if was != nil && was.Reason == is.Reason {
		return
	}
	eventType := corev1.EventTypeWarning
	if is.Reason == cachev1.ReasonSaving || is.Reason == cachev1.ReasonSaved {
		eventType = corev1.EventTypeNormal
	}
	log.FromContext(ctx).Info(is.Message, "reason", is.Reason)
	r.events.Eventf(snapshot, nil, eventType, is.Reason, "Save", "%s", status.Shorten(is.Message, status.LongestNote))
}
