package controller

// Sets up the watches, and the predicates that ignore events without news.

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/consistent"
	"github.com/example-inc/memcached-operator/operator/internal/metrics"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/reports"
	"github.com/example-inc/memcached-operator/operator/internal/secrets"
)

// Name is the controller's name in logs, metrics and events.
const Name = "memcached"

// Config is what the controller depends on.
type Config struct {
	Defaults Defaults

	// DefaultsChanged requests a reconciliation of all caches.
	DefaultsChanged <-chan event.GenericEvent

	// Nodes reads the Nodes of the cluster; nil means that the operator does not read them.
	Nodes client.Reader

	// NamedSecrets caches the metadata of Secrets that a Memcached may name. The Secrets of bindings are in the cache
	// of the manager.
	NamedSecrets cache.Cache

	// Namespaces are the namespaces that the operator serves; empty means all.
	Namespaces []string

	// ServerTime is the time by the clock of the API server.
	ServerTime func() time.Time

	// MaxConcurrentUpdates is how many caches with updatePolicy Automatic are updated at a time after an upgrade.
	MaxConcurrentUpdates int

	LegacyFieldManagers []string
	Options             controller.Options

	// Report reads from a Pod how it is used. ReportInterval is the interval at which the report of one Pod of each
	// observed cache is read.
	Report         reports.Get
	ReportInterval time.Duration

	// Work monitors the workers.
	Work *Work
}

// Setup adds the controller to a manager.
func Setup(mgr ctrl.Manager, config Config) error {
	memory := secrets.NewMemory(mgr.GetAPIReader(), config.ServerTime)
	writer := consistent.NewClient(mgr.GetClient(), mgr.GetAPIReader(), observe.IsCached)
	reconciler := &Reconciler{
		client:   writer,
		observe:  observe.Collector{Cache: writer, Live: mgr.GetAPIReader(), Secrets: memory},
		secrets:  &secretWatch{cache: config.NamedSecrets, reader: writer, memory: memory},
		syncer:   apply.NewSyncer(writer, mgr.GetAPIReader(), mgr.GetScheme(), config.LegacyFieldManagers),
		defaults: config.Defaults,
		events:   mgr.GetEventRecorder(names.FieldOwner),
		nodes:    newNodes(config.Nodes),
		statuses: newStatuses(),
		updates:  newUpdateQueue(config.MaxConcurrentUpdates),
		metrics:  metrics.New(ctrlmetrics.Registry),
		reports:  reports.NewReader(mgr.GetCache(), config.Report, config.ReportInterval),
	}
	access, err := authorizationclient.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("set up the review of rights: %w", err)
	}
	reviews := access.SelfSubjectAccessReviews()
	changes := predicate.And(writer.Predicate(), objectChanges(reconciler.syncer))
	reconciler.rights = &rights{access: reviews, namespaces: config.Namespaces, needed: discoveryRights}
	reconciler.certificates = newCertificateWatch(mgr, writer,
		&rights{access: reviews, namespaces: config.Namespaces, needed: certificateRights}, changes)
	reconciler.bindings = newBindingWatch(mgr, writer, reviews, changes, &remnants{
		live: mgr.GetAPIReader(), kind: observe.Kind{GroupVersionKind: observe.SecretKind}, namespaces: config.Namespaces,
	})
	reconciler.slots = newSlotWatch(mgr, writer,
		&rights{access: reviews, namespaces: config.Namespaces, needed: slotRights}, changes)
	metrics.NewUpdates(ctrlmetrics.Registry, reconciler.updates.counts)
	counted := metrics.NewMemcacheds(ctrlmetrics.Registry, mgr.GetCache())
	build := ctrl.NewControllerManagedBy(mgr).
		Named(Name).
		For(&cachev1.Memcached{}, builder.WithPredicates(
			writer.Predicate(), reconciler.updates.news(), reconciler.statuses.news())).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(memcachedOf),
			builder.WithPredicates(writer.Predicate(), podChanges)).
		WatchesRawSource(source.Channel(config.DefaultsChanged, handler.EnqueueRequestsFromMapFunc(reconciler.all))).
		WatchesRawSource(source.Channel(reconciler.reports.Changed, &handler.EnqueueRequestForObject{})).
		WatchesRawSource(source.Channel(
			reconciler.updates.changed, handler.EnqueueRequestsFromMapFunc(reconciler.updates.due))).
		WithOptions(config.Work.watched(config.Options))
	for _, kind := range observe.Kinds() {
		build.Owns(kind.New(), builder.WithPredicates(changes))
	}
	built, err := build.Build(config.Work.note(reconciler))
	if err != nil {
		return err
	}
	reconciler.secrets.controller, reconciler.slots.controller = built, built
	reconciler.bindings.controller, reconciler.certificates.controller = built, built
	return errors.Join(indexSecrets(mgr), indexPods(mgr), indexSlotServices(mgr), indexAutoscaled(mgr), mgr.Add(counted),
		mgr.Add(reconciler.reports))
}

// objectChanges returns a predicate that ignores events without news about a managed object: its creation by the
// operator, and resyncs.
func objectChanges(syncer *apply.Syncer) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return !syncer.TakeCreation(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion()
		},
		DeleteFunc: func(e event.DeleteEvent) bool {
			syncer.NoteMissing(e.Object)
			return true
		},
	}
}

// all returns all Memcacheds, because the defaults changed for each of them.
func (r *Reconciler) all(ctx context.Context, _ client.Object) []reconcile.Request {
	r.updates.restart()
	return memcacheds(ctx, r.client)
}

// memcacheds returns the matching Memcacheds in the cache.
func memcacheds(ctx context.Context, cache client.Reader, matching ...client.ListOption) []reconcile.Request {
	list := &cachev1.MemcachedList{}
	if err := cache.List(ctx, list, matching...); err != nil {
		// Only a programming error can cause this, because the list is read from the cache.
		log.FromContext(ctx).Error(err, "Memcacheds cannot be listed")
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return requests
}

func indexPods(mgr ctrl.Manager) error {
	return mgr.GetFieldIndexer().IndexField(context.Background(), &corev1.Pod{}, observe.PodIndex,
		func(pod client.Object) []string { return []string{observe.InstanceOf(pod)} })
}

func indexAutoscaled(mgr ctrl.Manager) error {
	return mgr.GetFieldIndexer().IndexField(context.Background(), &cachev1.Memcached{}, reports.Index, reports.IndexOf)
}

// memcachedOf returns the Memcached of a Pod or a ReplicaSet.
func memcachedOf(_ context.Context, object client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{
		Namespace: object.GetNamespace(), Name: names.MemcachedOf(observe.InstanceOf(object)),
	}}}
}

// replicaSetChanges selects those updates of ReplicaSets after which another ReplicaSet may be the current one.
var replicaSetChanges = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool { return observe.ReplicaSetChanged(e.ObjectOld, e.ObjectNew) },
}

// podChanges selects those updates of Pods that change the observed state.
var podChanges = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*corev1.Pod), e.ObjectNew.(*corev1.Pod)
		return observe.PodChanged(before, after)
	},
}
