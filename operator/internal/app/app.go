// Package app wires the operator together and runs it.
package app

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/certmanager"
	"github.com/example-inc/memcached-operator/operator/internal/controller"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
	"github.com/example-inc/memcached-operator/operator/internal/reports"
	"github.com/example-inc/memcached-operator/operator/internal/snapshots"
)

// reconcileTimeout is the time after which the context of a reconciliation ends, so that a reconciliation that hangs
// does not block a worker forever.
const reconcileTimeout = time.Minute

// Run runs the operator until the context ends, and then finishes reconciliations in progress.
func Run(ctx context.Context, config *rest.Config, options *Options) error {
	mgr, err := newManager(ctx, config, options)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		filled := newCaches(mgr)
		if err := filled.areFilled(context.WithoutCancel(ctx), cachedFromStart()); err != nil {
			// Don't wait for the manager: no reconciliation is in progress, and the manager would wait forever for the caches,
			// which are not synced (runnableGroup.Start).
			return nil
		}
		err = <-ended
	}
	if err != nil {
		return fmt.Errorf("run the operator: %w", err)
	}
	return nil
}

// newManager returns a manager with the controller, ready to be started.
func newManager(ctx context.Context, config *rest.Config, options *Options) (ctrl.Manager, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	// The API server limits requests fairly (API Priority and Fairness); a client-side limit would be worse.
	config = rest.CopyConfig(config)
	config.QPS = -1
	clock := &serverClock{}
	config.Wrap(clock.listen)
	config.Wrap(withoutStrictDecoding)

	metrics, err := metricsOptions(ctx, config, options)
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(config, managerOptions(options, metrics))
	if err != nil {
		return nil, fmt.Errorf("set up the operator: %w", err)
	}
	changed := make(chan event.GenericEvent, 1)
	platform, err := watchedPlatform(mgr, config, options, changed)
	if err != nil {
		return nil, err
	}
	named, err := newSecretCache(mgr, options)
	if err != nil {
		return nil, err
	}
	report, err := reports.OverHTTP(options.UsageProxy)
	if err != nil {
		return nil, fmt.Errorf("--usage-proxy: %w", err)
	}
	work := controller.NewWork(reconcileTimeout)
	err = controller.Setup(mgr, controller.Config{
		Work:     work,
		Defaults: podDefaults(platform, options), DefaultsChanged: changed,
		Nodes: nodeReader(mgr, options), NamedSecrets: named, LegacyFieldManagers: options.LegacyFieldManagers,
		MaxConcurrentUpdates: options.MaxConcurrentUpdates, ServerTime: clock.now,
		Namespaces: options.WatchNamespaces,
		Report:     report, ReportInterval: options.UsageInterval,
		Options: ctrlcontroller.Options{
			MaxConcurrentReconciles: options.MaxConcurrentReconciles,
			ReconciliationTimeout:   reconcileTimeout,
			RateLimiter:             newRetries(),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("set up the controller: %w", err)
	}
	err = snapshots.Setup(mgr, snapshots.Config{
		Defaults: podDefaults(platform, options), Namespaces: options.WatchNamespaces,
		Options: ctrlcontroller.Options{ReconciliationTimeout: reconcileTimeout, RateLimiter: newRetries()},
	})
	if err != nil {
		return nil, err
	}
	if err := addProbes(mgr, work); err != nil {
		return nil, fmt.Errorf("set up the probes: %w", err)
	}
	return mgr, nil
}

// watchedPlatform returns the platform, and watches it if the operator has the rights for that.
func watchedPlatform(
	mgr ctrl.Manager, config *rest.Config, options *Options, changed chan event.GenericEvent,
) (*platform, error) {
	found, err := newPlatform(config)
	if err != nil || !options.servesAll() {
		return found, err
	}
	if err := mgr.Add(platformWatch{config: config, platform: found, changed: changed}); err != nil {
		return nil, fmt.Errorf("set up the operator: %w", err)
	}
	return found, nil
}

// newSecretCache returns a cache of the metadata of Secrets that Memcacheds may name. Only the leader fills it.
func newSecretCache(mgr ctrl.Manager, options *Options) (cache.Cache, error) {
	named := secretCacheOptions(options)
	named.HTTPClient, named.Scheme, named.Mapper = mgr.GetHTTPClient(), mgr.GetScheme(), mgr.GetRESTMapper()
	made, err := cache.New(mgr.GetConfig(), named)
	if err != nil {
		return nil, fmt.Errorf("set up the cache of Secrets: %w", err)
	}
	return made, mgr.Add(made)
}

// nodeReader returns nil for an operator that serves only some namespaces, because such an operator reads nothing
// outside of them. The reader does not use the cache, which would have to hold every Node for rare reads.
func nodeReader(mgr ctrl.Manager, options *Options) client.Reader {
	if !options.servesAll() {
		return nil
	}
	return mgr.GetAPIReader()
}

// podDefaults returns the operator's defaults for Pods.
func podDefaults(platform *platform, options *Options) controller.Defaults {
	namespace := ownNamespace()
	return func(ctx context.Context) plan.Defaults {
		defaults := plan.Defaults{
			Revisions: render.Revisions(), Image: options.MemcachedImage, AgentImage: options.AgentImage,
			SnapshotImage: options.SnapshotImage, Architectures: options.Architectures, Namespace: namespace,
		}
		defaults.Platform, defaults.Unknown = platform.find(ctx)
		return defaults
	}
}

// ownNamespace returns the namespace of the operator, as the kubelet writes it into each container; empty outside of a
// cluster.
func ownNamespace() string {
	content, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// newScheme returns a scheme with the types that the operator reads and writes.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, cachev1.AddToScheme, certmanager.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err) // This fails only if a type is registered twice under different names: a programming error.
		}
	}
	return scheme
}

func managerOptions(options *Options, metrics metricsserver.Options) ctrl.Options {
	return ctrl.Options{
		Scheme:                        newScheme(),
		MapperProvider:                restMapper,
		Cache:                         cacheOptions(options),
		Metrics:                       metrics,
		HealthProbeBindAddress:        options.ProbeAddress,
		PprofBindAddress:              options.ProfilesAddress,
		LeaderElection:                options.LeaderElection,
		LeaderElectionID:              names.LeaderElectionID,
		LeaderElectionNamespace:       options.LeaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
	}
}
