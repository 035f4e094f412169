package snapshots

// Starts the controllers once the cluster has the API, and the operator the rights.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/consistent"
	"github.com/example-inc/memcached-operator/operator/internal/controller"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// The names of the controllers in logs, metrics and events.
const (
	saverName    = "memcachedsnapshot"
	restorerName = "memcachedrestore"
)

// apiRetry is the interval at which to look for the API and the rights while one of them is missing.
const apiRetry = 5 * time.Minute

// Config is what the controller depends on.
type Config struct {
	Defaults controller.Defaults

	// Namespaces are the namespaces that the operator serves; empty means all.
	Namespaces []string

	Options ctrlcontroller.Options
}

// Setup adds the controllers to a manager. The API may be missing, because an upgrade of the operator with Helm
// installs no CRD.
func Setup(mgr ctrl.Manager, config Config) error {
	writer := consistent.NewClient(mgr.GetClient(), mgr.GetAPIReader(), observe.IsCached)
	common := jobs{
		client: writer, defaults: config.Defaults, events: mgr.GetEventRecorder(names.FieldOwner),
		observe: observe.SnapshotCollector{Cache: writer, Live: mgr.GetAPIReader()},
	}
	saves, restores := &saver{common}, &restorer{common}
	watched := func(object client.Object, handled handler.EventHandler, which ...predicate.Predicate) source.Source {
		return source.Kind(mgr.GetCache(), object, handled, which...)
	}
	owner := handler.EnqueueRequestForOwner(
		mgr.GetScheme(), mgr.GetRESTMapper(), &cachev1.Memcached{}, handler.OnlyControllerOwner())
	self := &handler.EnqueueRequestForObject{}
	return errors.Join(
		add(mgr, config, saverName, saves, []client.ObjectList{&cachev1.MemcachedSnapshotList{}, &batchv1.JobList{}},
			watched(&cachev1.MemcachedSnapshot{}, self, writer.Predicate(), predicate.GenerationChangedPredicate{}),
			watched(&batchv1.Job{}, self, writer.Predicate()), // of the same name
			watched(&batchv1.Job{}, handler.EnqueueRequestsFromMapFunc(saves.waitingFor), ended),
			watched(&cachev1.Memcached{}, handler.EnqueueRequestsFromMapFunc(saves.snapshotsOf), readiness)),
		add(mgr, config, restorerName, restores, []client.ObjectList{&batchv1.JobList{}},
			watched(&batchv1.Job{}, owner, writer.Predicate()),
			watched(&batchv1.Job{}, handler.EnqueueRequestsFromMapFunc(cacheOf), ended),
			watched(&cachev1.Memcached{}, self, writer.Predicate(), restoration)),
	)
}

// add adds a controller that starts once the kinds that it needs can be read.
func add(
	mgr ctrl.Manager, config Config, name string, reconciler reconcile.Reconciler, needed []client.ObjectList,
	sources ...source.Source,
) error {
	config.Options.Reconciler = reconciler
	config.Options.LogConstructor = func(request *reconcile.Request) logr.Logger {
		logger := mgr.GetLogger().WithValues("controller", name)
		if request != nil {
			logger = logger.WithValues("object", request.NamespacedName)
		}
		return logger
	}
	built, err := ctrlcontroller.NewUnmanaged(name, config.Options)
	if err != nil {
		return fmt.Errorf("set up the controller %s: %w", name, err)
	}
	return mgr.Add(&starter{
		name: name, controller: built, live: mgr.GetAPIReader(), namespaces: config.Namespaces, needed: needed,
		sources: sources,
	})
}

// restoration selects those updates of a Memcached after which a restore may begin, or has to end. If the spec changed
// while the operator did not run, the event of the Job causes the reconciliation.
var restoration = predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool { return plan.WantedSnapshot(e.Object.(*cachev1.Memcached)) != nil },
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*cachev1.Memcached), e.ObjectNew.(*cachev1.Memcached)
		concerned := plan.WantedSnapshot(before) != nil || plan.WantedSnapshot(after) != nil
		return concerned && (before.Generation != after.Generation || readiness.Update(e))
	},
}

// readiness selects those updates of Memcacheds after which a snapshot may begin, or fails.
var readiness = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*cachev1.Memcached), e.ObjectNew.(*cachev1.Memcached)
		return readyReason(before) != readyReason(after) || plan.ServerNames(before) != plan.ServerNames(after) ||
			before.Status.ObservedGeneration != after.Status.ObservedGeneration
	},
}

func readyReason(mc *cachev1.Memcached) string {
	if ready := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady); ready != nil {
		return ready.Reason
	}
	return ""
}

// snapshotsOf returns the MemcachedSnapshots of a Memcached that are not over.
func (s *saver) snapshotsOf(ctx context.Context, mc client.Object) []reconcile.Request {
	return s.unfinished(ctx, mc.GetNamespace(), mc.GetName())
}

// waitingFor returns the MemcachedSnapshots that may wait for the end of a Job of the same cache.
func (s *saver) waitingFor(ctx context.Context, job client.Object) []reconcile.Request {
	return s.unfinished(ctx, job.GetNamespace(), job.GetLabels()[names.LabelSnapshot])
}

func (s *saver) unfinished(ctx context.Context, namespace, cache string) []reconcile.Request {
	list := &cachev1.MemcachedSnapshotList{}
	if err := s.client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		log.FromContext(ctx).Error(err, "MemcachedSnapshots cannot be listed") // A programming error: this reads the cache.
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		snapshot := &list.Items[i]
		if snapshot.Spec.MemcachedRef.Name == cache && !status.IsSnapshotOver(snapshot) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(snapshot)})
		}
	}
	return requests
}

// cacheOf returns the Memcached of a Job, whose restore may wait for the end of the Job.
func cacheOf(_ context.Context, job client.Object) []reconcile.Request {
	key := client.ObjectKey{Namespace: job.GetNamespace(), Name: job.GetLabels()[names.LabelSnapshot]}
	return []reconcile.Request{{NamespacedName: key}}
}

// ended selects the events with which a Job ends, including its deletion: other Jobs may wait for that.
var ended = predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool { return observe.IsJobOver(e.Object.(*batchv1.Job)) },
	UpdateFunc: func(e event.UpdateEvent) bool { return observe.IsJobOver(e.ObjectNew.(*batchv1.Job)) },
}

// starter starts the controller once its kinds can be read. A controller that starts earlier fails, and this would end
// the operator.
type starter struct {
	name       string
	controller ctrlcontroller.Controller
	live       client.Reader
	namespaces []string
	needed     []client.ObjectList
	sources    []source.Source
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (s *starter) NeedLeaderElection() bool { return true }

// Start runs the controller until the context ends.
func (s *starter) Start(ctx context.Context) error {
	logger := ctrl.Log.WithName(s.name)
	for logged := false; ; logged = true {
		missing := s.missing(ctx)
		if missing == nil {
			break
		}
		if !logged {
			logger.Info("No snapshots are written or restored: install the CRD memcachedsnapshots.cache.example.com, and grant "+
				"the rights of the operator's role", "missing", missing.Error())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(apiRetry):
		}
	}
	for _, watched := range s.sources {
		if err := s.controller.Watch(watched); err != nil {
			return fmt.Errorf("watch for snapshots: %w", err)
		}
	}
	return s.controller.Start(ctx)
}

// missing returns an error if the API or a right is missing. For other errors, the informers try again.
func (s *starter) missing(ctx context.Context) error {
	namespaces := s.namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		for _, list := range s.needed {
			err := s.live.List(ctx, list, client.InNamespace(namespace), client.Limit(1))
			if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || meta.IsNoMatchError(err) {
				return err
			}
		}
	}
	return nil
}
