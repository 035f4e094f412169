package snapshots

// Restores a snapshot into the cache whose spec.bootstrap names it: once, by a Job.

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// restorer reconciles Memcacheds that are filled with a snapshot. It writes only two parts of their status: the
// condition Bootstrapped, and restoredSnapshot. The package controller writes the rest, and keeps these two.
type restorer struct{ jobs }

// Reconcile performs the next step of the restore of one cache, and reports it in the status.
func (r *restorer) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	mc := &cachev1.Memcached{}
	if exists, err := r.read(ctx, request, mc); !exists {
		return ctrl.Result{}, err
	}
	if plan.WantedSnapshot(mc) != nil && mc.Status.ObservedGeneration != mc.Generation {
		return ctrl.Result{}, nil // The other controller is about to write the status, which causes an event.
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

// forward observes the Job and creates it, or deletes a Job that restores a snapshot which the spec does not request
// any more.
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
	busy, missing, err := r.observe.Needs(ctx, mc, wanted.SnapshotTarget)
	if err != nil {
		return err
	}
	b, err := r.begin(ctx, mc, func(defaults plan.Defaults) (plan.Snapshot, *plan.Unmet) {
		return plan.ResolveRestore(mc, busy, missing, defaults)
	})
	in.Job, in.Taken, in.Unmet = b.job, b.taken, b.unmet
	return err
}

// report writes the status if it differs, then the event.
func (r *restorer) report(ctx context.Context, in status.RestoreInput) (ctrl.Result, error) {
	before, now := in.Memcached.DeepCopy(), in.Memcached.DeepCopy()
	now.Status = status.EvaluateRestore(in)
	then := ctrl.Result{}
	if !plan.IsRestored(in.Memcached) {
		then = awaited(in.Job, in.Unmet, in.Taken)
	}
	return r.write(ctx, report{
		before: before, now: now, action: "Restore", then: then,
		was: meta.FindStatusCondition(before.Status.Conditions, cachev1.ConditionBootstrapped),
		is:  meta.FindStatusCondition(now.Status.Conditions, cachev1.ConditionBootstrapped),
	})
}
