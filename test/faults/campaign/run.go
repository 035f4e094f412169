// Package campaign carries out plans, judges by the model what happened, and reports the results.
package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/install"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/actions"
	"github.com/example-inc/memcached-operator/test/faults/clients"
	"github.com/example-inc/memcached-operator/test/faults/environment"
	"github.com/example-inc/memcached-operator/test/faults/history"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

const (
	// patience is how long the operator may take for something that normally takes a second. It is longer than the
	// operator's longest pauses after a restart.
	patience = 60 * time.Second

	// settled is for how long the operator must send no request until it counts as at rest.
	settled = 1500 * time.Millisecond

	// longestIdle is for how long the operator may send no request although it has something to do, on a busy machine.
	longestIdle = 10 * time.Second

	// longestRetry is for how long the operator may send no request before it repeats a failed write. It is a little
	// longer than necessary.
	longestRetry = 20 * time.Second

	// atRest is how long the operator is observed while it is at rest.
	atRest = time.Second

	// firstSize is the size of each Memcached at the beginning and in the end.
	firstSize = 2

	// newCache is the name of a Memcached that is created in the end, to compare the repaired Memcacheds with it.
	newCache = "new"
)

// Run carries out a plan. It returns the history of the run, and how many steps had an effect, by action. An error
// means that the campaign itself failed.
func Run(
	ctx context.Context, e *environment.Environment, programs world.Programs, all []actions.Action, dir string,
	p plan.Plan,
) (h *history.History, effects map[string]int, err error) {
	w, err := world.New(ctx, e, programs, dir, p.Seed)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, w.End(context.WithoutCancel(ctx))) }()
	admin, err := e.Cluster.RESTConfig()
	if err != nil {
		return nil, nil, err
	}
	recorder, err := history.Start(ctx, admin, e.Audit, w.Namespace, install.User)
	if err != nil {
		return nil, nil, err
	}
	w.Note, w.Delayed = recorder.Step, recorder.Delayed
	r := &run{World: w, Recorder: recorder, actions: all, plan: p}
	stop := func() {}
	if e.Real {
		stop = r.useCaches(ctx)
	} else if err := w.PlayAgents(p.Uses); err != nil {
		return nil, nil, err
	}
	err = r.carryOut(ctx)
	stop()
	h, err2 := recorder.Stop(context.WithoutCancel(ctx))
	return h, w.Effects(), errors.Join(err, err2)
}

type run struct {
	*world.World
	*history.Recorder

	actions []actions.Action
	plan    plan.Plan
}

func (r *run) carryOut(ctx context.Context) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	for _, step := range r.plan.Steps {
		if err := world.Sleep(ctx, step.After.Duration); err != nil {
			return err
		}
		if step.AtRest {
			r.settle(ctx)
		}
		r.Step(step.String())
		if err := actions.Do(ctx, r.World, r.actions, step); err != nil {
			return err
		}
	}
	return r.finish(ctx)
}

// useCaches makes clients use the Pods until stop is called. After that, the clients record nothing more.
func (r *run) useCaches(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	kubelet := func() (int, error) { return r.Cluster.PidOf("kubelet") }
	all := clients.Clients{
		Kube: r.Client, Namespace: r.Namespace, Dial: clients.InNetworkOf(kubelet), Record: r.Access,
	}
	var running sync.WaitGroup
	running.Go(func() { all.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// begin starts an operator and creates the Memcacheds. It does not wait until they are Ready, because faults may come
// immediately.
func (r *run) begin(ctx context.Context) error {
	if err := r.Start(); err != nil {
		return err
	}
	for _, name := range r.plan.Caches {
		mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: name}}
		mc.Spec.Size = new(int32(firstSize))
		if r.plan.Slots != "" {
			mc.Spec.Slots = &cachev1.Slots{Mode: cachev1.SlotsMode(r.plan.Slots)}
		}
		if err := errors.Join(r.follow(mc), r.Client.Create(ctx, mc)); err != nil {
			return err
		}
	}
	r.Step(history.PhaseStarted)
	return nil
}

// finish ends the faults, and gives the operator time to do what it promises. The model judges whether it did.
func (r *run) finish(ctx context.Context) error {
	if err := r.EndFaults(ctx); err != nil {
		return err
	}
	if r.plan.Restart {
		if err := r.Replace(r.First()); err != nil {
			return err
		}
	}
	r.Step(history.PhaseFaultsOver)
	r.settle(ctx)
	r.Step(history.PhaseAtRest)
	if err := world.Sleep(ctx, atRest); err != nil {
		return err
	}
	r.Step(history.PhaseRepaired)
	caches := append(slices.Clone(r.plan.Caches), newCache)
	for _, name := range caches {
		if err := r.repair(ctx, name); err != nil {
			return err
		}
	}
	for range 2 { // A cache may become unready again for seconds, when its Pods get their slots again.
		for _, name := range caches {
			_ = world.Await(ctx, patience, func(ctx context.Context) (bool, error) { return r.isReady(ctx, name) })
		}
		r.settle(ctx)
	}
	r.Step(history.PhaseReady)
	if err := world.Sleep(ctx, atRest); err != nil {
		return err
	}
	return errors.Join(r.delete(ctx), r.noteLog())
}

// noteLog records the lines in the operator's log that the operator may not log. It is called last, when the operator
// has nothing more to do.
func (r *run) noteLog() error {
	lines, err := r.Logged(history.IsForbidden)
	for _, line := range lines {
		r.Step(history.Logged + line)
	}
	return err
}

// settle waits until the operator is at rest, or a time is over. The model finds an operator that is never at rest.
func (r *run) settle(ctx context.Context) {
	began := time.Now()
	_ = world.Await(ctx, untilSettled, func(ctx context.Context) (bool, error) {
		idle := min(r.First().Idle(), time.Since(began))
		return idle > settled && idle > r.mayBeIdle(ctx, idle < time.Since(began)), nil
	})
}

// mayBeIdle returns for how long the operator may send no request although it has something to do. While a Memcached is
// not reconciled, the operator may be waiting for a processor. After a failed write, it may be waiting until it tries
// again.
func (r *run) mayBeIdle(ctx context.Context, tried bool) time.Duration {
	list := &cachev1.MemcachedList{}
	if r.Client.List(ctx, list, client.InNamespace(r.Namespace)) != nil {
		return longestIdle
	}
	longest := time.Duration(0)
	for i := range list.Items {
		mc := &list.Items[i]
		longest = max(longest, betweenReports(mc.Spec))
		ready := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady)
		switch {
		case !tried && ready != nil && ready.Reason == cachev1.ReasonApplyFailed:
			longest = max(longest, longestRetry)
		case mc.Status.ObservedGeneration != mc.Generation:
			longest = max(longest, longestIdle)
		}
	}
	return longest
}

// repair gives a Memcached a simple spec, and creates it again if it was deleted.
func (r *run) repair(ctx context.Context, name string) error {
	return world.Await(ctx, patience, func(ctx context.Context) (bool, error) {
		mc, err := r.Memcached(ctx, name)
		simple := cachev1.MemcachedSpec{Size: new(int32(firstSize))}
		if client.IgnoreNotFound(err) != nil {
			return false, err
		}
		if err != nil {
			mc = &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: name}, Spec: simple}
			return true, r.Client.Create(ctx, mc)
		}
		if !mc.DeletionTimestamp.IsZero() {
			return false, fmt.Errorf("the Memcached %s is being deleted", name)
		}
		if actsOn(mc.Spec) { // The change that ends autoscaling must set the memory.
			mc.Spec.Memory, mc.Spec.Autoscaling = new(resource.MustParse("64Mi")), nil
			if err := r.Client.Update(ctx, mc); err != nil {
				return false, err
			}
		}
		mc.Spec = simple
		return true, r.Client.Update(ctx, mc)
	})
}

func (r *run) isReady(ctx context.Context, name string) (bool, error) {
	mc, err := r.Memcached(ctx, name)
	return err == nil && mc.Status.ObservedGeneration == mc.Generation &&
		meta.IsStatusConditionTrue(mc.Status.Conditions, cachev1.ConditionReady), err
}

// delete deletes the Memcacheds, and waits until the objects that they own are deleted.
func (r *run) delete(ctx context.Context) error {
	err := r.Client.DeleteAllOf(ctx, &cachev1.Memcached{}, client.InNamespace(r.Namespace))
	if err != nil {
		return err
	}
	r.Step(history.PhaseDeleted)
	_ = world.Await(ctx, patience, r.isEmpty)
	r.settle(ctx)
	r.Step(history.PhaseEnd)
	return nil
}

// isEmpty reports whether the namespace has no Pods, and no objects that belong to a Memcached.
func (r *run) isEmpty(ctx context.Context) (bool, error) {
	pods := &corev1.PodList{}
	if err := r.Client.List(ctx, pods, client.InNamespace(r.Namespace)); err != nil || len(pods.Items) > 0 {
		return false, err
	}
	for _, list := range []client.ObjectList{
		&appsv1.DeploymentList{}, &corev1.ServiceList{},
		&networkingv1.NetworkPolicyList{}, &policyv1.PodDisruptionBudgetList{},
		&discoveryv1.EndpointSliceList{},
	} {
		if err := r.Client.List(ctx, list, client.InNamespace(r.Namespace)); err != nil {
			return false, err
		}
		owned := false
		if err := meta.EachListItem(list, func(o runtime.Object) error {
			owner := metav1.GetControllerOf(o.(metav1.Object))
			owned = owned || owner != nil && owner.Kind == "Memcached"
			return nil
		}); err != nil || owned {
			return false, err
		}
	}
	return true, nil
}
