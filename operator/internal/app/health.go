package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/controller"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// addProbes serves /healthz, which fails if a worker hangs, and /readyz, which fails until the caches are synced and
// while the work queue stands still.
func addProbes(mgr ctrl.Manager, work *controller.Work) error {
	filled := newCaches(mgr)
	return errors.Join(
		mgr.AddHealthzCheck("workers", logged("workers", func(*http.Request) error { return work.Hangs() })),
		mgr.AddReadyzCheck("caches", logged("caches", func(r *http.Request) error { return filled.check(r.Context()) })),
		mgr.AddReadyzCheck("queue", logged("queue", func(*http.Request) error { return work.StandsStill() })),
	)
}

// logged returns a check that also logs when it starts to fail, and when it succeeds again, because the kubelet reports
// only a status code.
func logged(name string, check healthz.Checker) healthz.Checker {
	log := ctrl.Log.WithName("probes").WithValues("check", name)
	var failed atomic.Bool
	return func(request *http.Request) error {
		err := check(request)
		switch before := failed.Swap(err != nil); {
		case err != nil && !before:
			log.Info("A check fails", "error", err.Error())
		case err == nil && before:
			log.Info("The check succeeds again")
		}
		return err
	}
}

// caches checks whether the required caches are synced. The caches of Secrets and of slots are not included: their
// watches start when a Memcached first needs such a cache, and only Memcacheds that need this cache wait for it.
type caches struct {
	informers cache.Informers

	// leads is closed once this operator is the leader. Only the leader caches the managed objects.
	leads <-chan struct{}

	mu    sync.Mutex
	known map[string]cache.Informer
}

func newCaches(mgr ctrl.Manager) *caches {
	return &caches{informers: mgr.GetCache(), leads: mgr.Elected(), known: map[string]cache.Informer{}}
}

// check returns an error that names the caches which are not synced yet.
func (c *caches) check(ctx context.Context) error {
	needed := cachedFromStart()
	select {
	case <-c.leads:
		for _, kind := range observe.Kinds() {
			needed = append(needed, kind.New())
		}
	default:
	}
	return c.areFilled(ctx, needed)
}

// cachedFromStart returns the kinds that an operator caches even before it is the leader: the kinds with an index.
func cachedFromStart() []client.Object { return []client.Object{&cachev1.Memcached{}, &corev1.Pod{}} }

func (c *caches) areFilled(ctx context.Context, kinds []client.Object) error {
	var empty []string
	for _, kind := range kinds {
		name := reflect.TypeOf(kind).Elem().Name()
		switch filled, err := c.isFilled(ctx, name, kind); {
		case err != nil:
			return fmt.Errorf("find the cache of kind %s: %w", name, err)
		case !filled:
			empty = append(empty, name)
		}
	}
	if len(empty) > 0 {
		return fmt.Errorf("the caches of these kinds are not synced yet: %s", strings.Join(empty, ", "))
	}
	return nil
}

// isFilled reports whether the cache of a kind is synced. It requests an informer only once, because with several
// namespaces each request starts a goroutine.
func (c *caches) isFilled(ctx context.Context, kind string, object client.Object) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[kind] == nil {
		informer, err := c.informers.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return false, err
		}
		c.known[kind] = informer
	}
	return c.known[kind].HasSynced(), nil
}
