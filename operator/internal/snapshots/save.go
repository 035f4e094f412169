package snapshots

// Saves a cache: creates the Job of a MemcachedSnapshot once, and reports the result of the Job.

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// saver reconciles MemcachedSnapshots.
type saver struct{ jobs }

// Reconcile performs the next step of one snapshot, and reports it in the status.
func (s *saver) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	wanted := &cachev1.MemcachedSnapshot{}
	if exists, err := s.read(ctx, request, wanted); !exists || status.IsSnapshotOver(wanted) {
		return ctrl.Result{}, err
	}
	in := status.SnapshotInput{Snapshot: wanted, Now: time.Now()}
	in.Err = s.forward(ctx, &in)
	result, err := s.report(ctx, in)
	if err = errors.Join(in.Err, err); err != nil {
		return ctrl.Result{}, err
	}
	return result, nil
}

// forward observes the Job, and creates it unless it was created before.
func (s *saver) forward(ctx context.Context, in *status.SnapshotInput) (err error) {
	if in.Job, in.Taken, err = s.observe.Job(ctx, in.Snapshot, in.Snapshot.Name); err != nil || in.Taken {
		return err
	}
	mc, err := s.observe.Memcached(ctx, in.Snapshot)
	if err != nil {
		return err
	}
	in.Restricted = mc != nil && mc.Spec.NetworkPolicy != nil && len(mc.Spec.NetworkPolicy.From) > 0
	if in.Job == nil && in.Snapshot.Status.StartTime != nil {
		if in.Job, _, err = s.observe.LiveJob(ctx, in.Snapshot, in.Snapshot.Name); err != nil || in.Job == nil {
			return err // The Job was deleted.
		}
	}
	switch {
	case in.Job != nil && hasOtherServers(in.Job, mc):
		in.Changed = true
		return s.remove(ctx, in.Job)
	case in.Job != nil:
		in.Pods, err = s.observe.Pods(ctx, in.Job)
		return err
	}
	current, err := s.observe.Begin(ctx, in.Snapshot, mc)
	if err != nil {
		return err
	}
	b, err := s.begin(ctx, in.Snapshot, func(defaults plan.Defaults) (plan.Snapshot, *plan.Unmet) {
		return plan.ResolveSnapshot(in.Snapshot, current, defaults)
	})
	in.Job, in.Taken, in.Unmet = b.job, b.taken, b.unmet
	return err
}

// report writes the status if it differs, then the event.
func (s *saver) report(ctx context.Context, in status.SnapshotInput) (ctrl.Result, error) {
	before, now := in.Snapshot.DeepCopy(), in.Snapshot.DeepCopy()
	now.Status = status.EvaluateSnapshot(in)
	return s.write(ctx, report{
		before: before, now: now, action: "Save", then: awaited(in.Job, in.Unmet, in.Taken),
		was: meta.FindStatusCondition(before.Status.Conditions, cachev1.ConditionReady),
		is:  meta.FindStatusCondition(now.Status.Conditions, cachev1.ConditionReady),
	})
}
