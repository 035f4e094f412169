package load

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/monitor"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

func (l *load) name(i int) string { return fmt.Sprintf("cache-%d", i) }

// simple returns the i-th Memcached with the spec with which it is created.
func (l *load) simple(i int) *cachev1.Memcached {
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: l.Namespace, Name: l.name(i)}}
	mc.Spec.Size = new(int32(1))
	return mc
}

func (l *load) create(ctx context.Context, update func(string)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(inFlight)
	for i := range l.options.Caches {
		group.Go(func() error {
			if i%100 == 0 {
				update(fmt.Sprintf("%d of %d", i, l.options.Caches))
			}
			return l.Client.Create(ctx, l.simple(i))
		})
	}
	return group.Wait()
}

// rest waits until the operator sends no requests, and is(mc) returns true for each Memcached mc.
func (l *load) rest(ctx context.Context, is func(*cachev1.Memcached) bool) (monitor.Metrics, error) {
	return l.settle(ctx, func(mc *cachev1.Memcached) bool { return l.First().Idle() > time.Second && is(mc) })
}

// settle waits until the operator's queue is empty, and is(mc) returns true for each Memcached mc. The operator repeats
// refused requests every 15 seconds.
func (l *load) settle(ctx context.Context, is func(*cachev1.Memcached) bool) (monitor.Metrics, error) {
	var metrics monitor.Metrics
	err := world.Await(ctx, patience, func(ctx context.Context) (bool, error) {
		var err error
		if metrics, err = l.First().Process().ReadMetrics(ctx); err != nil || metrics.Busy() {
			return false, err
		}
		list := &cachev1.MemcachedList{}
		if err := l.Client.List(ctx, list, client.InNamespace(l.Namespace)); err != nil {
			return false, err
		}
		behind, example := 0, ""
		for i := range list.Items {
			if !is(&list.Items[i]) {
				behind, example = behind+1, list.Items[i].Name
			}
		}
		if behind > 0 {
			return false, fmt.Errorf("%d Memcacheds do not have the expected status yet, for example %s", behind, example)
		}
		return true, nil
	})
	return metrics, err
}

// isCurrent reports whether the status is about the current spec.
func isCurrent(mc *cachev1.Memcached) bool { return mc.Status.ObservedGeneration == mc.Generation }

func isReady(mc *cachev1.Memcached) bool {
	return isCurrent(mc) && meta.IsStatusConditionTrue(mc.Status.Conditions, cachev1.ConditionReady)
}

// isResolved reports whether a Memcached is Ready, or waits for a user. It waits for a user if another client has
// removed the owner of an object, and the managed fields which show that the operator created it.
func isResolved(mc *cachev1.Memcached) bool {
	ready := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady)
	return isReady(mc) || isCurrent(mc) && ready != nil && ready.Reason == cachev1.ReasonOwnershipConflict
}

// repair gives each Memcached its first spec again when the faults have ended, and waits until all Memcacheds are
// resolved. It also returns how many of them wait for a user.
func (l *load) repair(ctx context.Context) (metrics monitor.Metrics, conflicts int, err error) {
	group, groupContext := errgroup.WithContext(ctx)
	group.SetLimit(inFlight)
	for i := range l.options.Caches {
		group.Go(func() error {
			return world.Await(groupContext, patience, func(ctx context.Context) (bool, error) {
				mc := l.simple(i)
				now, err := l.Memcached(ctx, mc.Name)
				switch {
				case apierrors.IsNotFound(err):
					return true, l.Client.Create(ctx, mc)
				case err != nil:
					return false, err
				case !now.DeletionTimestamp.IsZero():
					return false, fmt.Errorf("the Memcached %s is being deleted", mc.Name)
				}
				now.Spec = mc.Spec
				return true, l.Client.Update(ctx, now)
			})
		})
	}
	if err := group.Wait(); err != nil {
		return monitor.Metrics{}, 0, err
	}
	waiting := map[string]bool{}
	metrics, err = l.rest(ctx, func(mc *cachev1.Memcached) bool {
		delete(waiting, mc.Name)
		if isResolved(mc) && !isReady(mc) {
			waiting[mc.Name] = true
		}
		return isResolved(mc)
	})
	return metrics, len(waiting), err
}
