// Package load changes many Memcacheds at random and causes faults, and checks that the operator keeps up and leaks no
// memory or goroutines.
package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/example-inc/memcached-operator/internal/testing/monitor"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/test/faults/actions"
	"github.com/example-inc/memcached-operator/test/faults/environment"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// Options are the options of a load test.
type Options struct {
	Seed   uint64
	Caches int           // number of Memcacheds, each of size 1 at first
	For    time.Duration // how long they are changed
	Rate   float64       // changes and faults a second
}

// Result is what the operator did under load.
type Result struct {
	Options

	Steps      int
	Reconciled float64       // reconciliations
	Drained    time.Duration // from the end of the faults until the queue was empty and each status was current

	Heap Trend // the trend of the heap, without the first samples

	// Conflicts is how many Memcacheds wait for a user in the end, because another client has removed the owner of one of
	// their objects.
	Conflicts int

	// First and Last are the numbers of goroutines at rest before and after the load, with the same Memcacheds. Under
	// load, the number depends on the current requests, so it does not show a leak.
	First, Last int
}

const (
	// patience is how long thousands of caches may take to become ready, or the queue to become empty.
	patience = 15 * time.Minute

	// episode is how long faults last. Then they are all undone, and others begin.
	episode = 30 * time.Second

	// outageInterval is the time from one outage of the control plane to the next.
	outageInterval = 2 * time.Minute

	sampleInterval = 5 * time.Second

	// warmUp is the share of the samples at the beginning that do not count.
	warmUp = 0.2

	// inFlight is how many Memcacheds are created at a time.
	inFlight = 16
)

// Run starts a cluster, loads it, and measures.
func Run(
	ctx context.Context, root, dir string, programs world.Programs, o Options, all []actions.Action,
) (Result, error) {
	result := Result{Options: o}
	e, err := environment.Start(ctx, root, "faults-load", plan.SimulatedNodes)
	if err != nil {
		return result, err
	}
	defer func() { _ = e.Stop(context.WithoutCancel(ctx)) }()
	if err := addRoom(ctx, e); err != nil {
		return result, err
	}
	w, err := world.New(ctx, e, programs, dir, o.Seed)
	if err != nil {
		return result, err
	}
	l := &load{World: w, options: o, random: rand.New(rand.NewPCG(o.Seed, 3))} //nolint:gosec // by seed
	l.kinds, l.outages = actions.ForLoad(all)
	err = l.run(ctx, &result)
	return result, errors.Join(err, w.End(context.WithoutCancel(ctx)))
}

// addRoom adds Nodes for the Pods of all caches.
func addRoom(ctx context.Context, e *environment.Environment) error {
	room := local.Room("100000", "1000Ti")
	room[corev1.ResourcePods] = resource.MustParse("100000")
	return e.Cluster.AddNode(ctx, local.Node{Name: "large", Architecture: "amd64", Room: room})
}

type load struct {
	*world.World

	options Options
	kinds   []actions.Action
	outages []actions.Action
	random  *rand.Rand

	began time.Time
	at    []time.Duration
	heap  []float64
}

func (l *load) run(ctx context.Context, result *Result) error {
	l.Monitor()
	if err := l.Start(); err != nil {
		return err
	}
	err := progress.Stage(ctx, "Memcacheds", func(update func(string)) error { return l.create(ctx, update) })
	if err != nil {
		return err
	}
	before, err := l.rest(ctx, isReady)
	if err != nil {
		return fmt.Errorf("wait until %d Memcacheds are Ready: %w", l.options.Caches, err)
	}
	err = progress.Stage(ctx, "Changes and faults", func(update func(string)) (err error) {
		result.Steps, err = l.disturb(ctx, update)
		return err
	})
	if err != nil {
		return err
	}
	ended := time.Now()
	after, err := l.settle(ctx, isCurrent)
	if err != nil {
		return fmt.Errorf("wait until the queue is empty and each status current: %w", err)
	}
	result.Drained = time.Since(ended)
	result.Reconciled = after.Reconciled() - before.Reconciled()
	last, conflicts, err := l.repair(ctx)
	if err != nil {
		return fmt.Errorf("wait until the Memcacheds are Ready with their first specs again: %w", err)
	}
	result.Conflicts = conflicts
	result.First, result.Last = goroutines(before), goroutines(last)
	from := int(warmUp * float64(len(l.at)))
	result.Heap = trend(least(l.at[from:], l.heap[from:], episode))
	return nil
}

// disturb changes the caches, and begins and ends faults.
func (l *load) disturb(ctx context.Context, update func(string)) (steps int, err error) {
	l.began = time.Now()
	pause := time.Duration(float64(time.Second) / l.options.Rate)
	nextSample, nextEpisode, nextOutage := l.began, l.began.Add(episode), l.began.Add(outageInterval)
	for err == nil && time.Since(l.began) < l.options.For {
		now := time.Now()
		switch {
		case now.After(nextSample):
			nextSample = now.Add(sampleInterval)
			var heap float64
			heap, err = l.sample(ctx)
			update(fmt.Sprintf("%d, heap %.1f MiB", steps, heap/(1<<20)))
		case now.After(nextEpisode):
			nextEpisode = now.Add(episode)
			err = l.EndFaults(ctx)
		case now.After(nextOutage):
			nextOutage = now.Add(outageInterval)
			err = l.outage(ctx)
		default:
			steps++
			err = l.step(ctx)
			due := l.began.Add(time.Duration(steps) * pause)
			err = errors.Join(err, world.Sleep(ctx, time.Until(due)))
		}
	}
	return steps, errors.Join(err, l.EndFaults(ctx))
}

// step changes one of the caches, or causes a fault.
func (l *load) step(ctx context.Context) error {
	cache := l.name(l.random.IntN(l.options.Caches))
	step, err := plan.Draw(l.random, actions.Plans(l.kinds), []string{cache})
	if err != nil {
		return err
	}
	return actions.Do(ctx, l.World, l.kinds, step)
}

// outage stops a part of the control plane for a while, and waits until it has recovered. In this time all clients read
// all caches again, so no other step would be possible.
func (l *load) outage(ctx context.Context) error {
	step, err := plan.Draw(l.random, actions.Plans(l.outages), []string{l.name(0)})
	if err != nil {
		return err
	}
	return errors.Join(actions.Do(ctx, l.World, l.outages, step), l.EndFaults(ctx))
}

// sample returns the operator's heap after a garbage collection.
func (l *load) sample(ctx context.Context) (heap float64, err error) {
	memory, err := l.First().Process().ReadMemory(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the operator's memory: %w", err)
	}
	l.at = append(l.at, time.Since(l.began))
	l.heap = append(l.heap, memory.Heap)
	return memory.Heap, nil
}

func goroutines(metrics monitor.Metrics) int { return int(metrics.Sum("go_goroutines", "")) }
