package snapshots

// Restores a snapshot into the cache whose spec.bootstrap names it: once, by a Job.

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// restorer reconciles Memcacheds that are filled with a snapshot. Of their status it writes the condition Bootstrapped
// and restoredSnapshot; the rest is written by the package controller, which keeps these two.
type restorer struct{ jobs }

// Reconcile brings the restore of one cache forward, and reports it in the status.
func (r *restorer) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	mc := &cachev1.Memcached{}
	if exists, err := r.read(ctx, request, mc); !exists {
		return ctrl.Result{}, err
	}
	if plan.WantedSnapshot(mc) != nil && mc.Status.ObservedGeneration != mc.Generation {
		return ctrl.Result{}, nil // The other controller is about to write the status, and that is an event.
	}
	in := status.RestoreInput{Memcached: mc, Now: time.Now()}
	in.Err = r.forward(ctx, &in)
	if plan.WantedSnapshot(mc) == nil {
		return ctrl.Result{}, in.Err
	}
	result, err := r.report(ctx, in)
	if err = errors.Join(in.Err, err); err != nil {
		return ctrl.Result{}, err
	}
	return result, nil
}

// forward observes the Job and creates it, or deletes one that restores what the spec does not request any more.
func (r *restorer) forward(ctx context.Context, in *status.RestoreInput) (err error) {
	mc, wanted := in.Memcached, plan.WantedSnapshot(in.Memcached)
	in.Job, in.Taken, err = r.observe.Job(ctx, mc, names.Restore(mc.Name))
	switch {
	case err != nil, in.Taken:
		return err
	case in.Job != nil && (wanted == nil || in.Job.Annotations[names.AnnotationRestores] != plan.SourceOf(mc) ||
		hasOtherServers(in.Job, mc)):
		in.Outdated = true
		return r.remove(ctx, in.Job)
	case plan.IsRestored(mc):
		return nil
	case in.Job != nil:
		in.Pods, err = r.observe.Pods(ctx, in.Job)
		return err
	case wanted == nil:
		return nil
	}
	busy, err := r.observe.Busy(ctx, mc)
	if err != nil {
		return err
	}
	missing, err := r.observe.IsSecretMissing(ctx, mc.Namespace, wanted.SnapshotTarget)
	if err != nil {
		return err
	}
	defaults := r.defaults(ctx)
	if defaults.Unknown != nil {
		return defaults.Unknown
	}
	var planned plan.Snapshot
	if planned, in.Unmet = plan.ResolveRestore(mc, busy, missing, defaults); in.Unmet != nil {
		return nil
	}
	in.Job, in.Taken, err = r.create(ctx, mc, planned)
	return err
}

// report writes the status if it differs, then the event.
func (r *restorer) report(ctx context.Context, in status.RestoreInput) (ctrl.Result, error) {
	before, now := in.Memcached.DeepCopy(), in.Memcached.DeepCopy()
	now.Status = status.EvaluateRestore(in)
	if !equality.Semantic.DeepEqual(before.Status, now.Status) {
		reported := now.Status
		if written, result, err := r.write(ctx, before, now); !written {
			return result, err
		}
		r.recordReason(ctx, before, reported)
	}
	if plan.IsRestored(in.Memcached) {
		return ctrl.Result{}, nil
	}
	return awaited(in.Job, in.Unmet, in.Taken), nil
}

// recordReason records an event for a new reason, unless the Job just waits.
func (r *restorer) recordReason(ctx context.Context, before *cachev1.Memcached, now cachev1.MemcachedStatus) {
	was := meta.FindStatusCondition(before.Status.Conditions, cachev1.ConditionBootstrapped)
	is := meta.FindStatusCondition(now.Conditions, cachev1.ConditionBootstrapped)
	if is.Reason == cachev1.ReasonBootstrapWaiting || was != nil && was.Reason == is.Reason {
		return
	}
	succeeds := is.Reason == cachev1.ReasonBootstrapRestoring || is.Reason == cachev1.ReasonBootstrapRestored
	r.record(ctx, before, eventTypeOf(succeeds), "Restore", *is)
}
