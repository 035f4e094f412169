// Package snapshots saves and restores caches by Jobs: observe, plan, render, apply, status.
package snapshots

// The parts that saving and restoring have in common: one Job each, and how a status is written.

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/controller"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/render"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// Without these rights, or without the API, the operator saves and restores nothing, and everything else works.
// +kubebuilder:rbac:groups=cache.example.com,resources=memcachedsnapshots,verbs=get;list;watch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcachedsnapshots/status,verbs=patch
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete

const (
	// awaitedRetry is the interval at which to check states that no event reports: a missing Secret, a Pod of a Job
	// that does not start, or a Job of another client that has the name.
	awaitedRetry = 15 * time.Second

	// changedRetry is how soon to reconcile again if the object was changed before its status was written.
	changedRetry = time.Second
)

// jobs has the clients and settings that both reconcilers need.
type jobs struct {
	client   client.Client
	observe  observe.SnapshotCollector
	defaults controller.Defaults
	events   events.EventRecorder
}

// read reads an object from the cache, and reports whether it exists and is not being deleted. If the object is
// deleted, the garbage collector deletes its Job.
func (j *jobs) read(ctx context.Context, request ctrl.Request, object client.Object) (exists bool, err error) {
	switch err := j.client.Get(ctx, request.NamespacedName, object); {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read %s: %w", request, err)
	}
	return object.GetDeletionTimestamp().IsZero(), nil
}

// begun is the result of the attempt to begin a Job.
type begun struct {
	job   *batchv1.Job
	taken bool        // another Job has its name
	unmet *plan.Unmet // why it cannot begin yet
}

// begin creates the Job of an object, and reads it.
func (j *jobs) begin(
	ctx context.Context, owner client.Object, resolve func(plan.Defaults) (plan.Snapshot, *plan.Unmet),
) (b begun, err error) {
	defaults := j.defaults(ctx)
	if defaults.Unknown != nil {
		return b, defaults.Unknown
	}
	planned, unmet := resolve(defaults)
	if unmet != nil {
		return begun{unmet: unmet}, nil
	}
	if b.taken, err = apply.CreateJob(ctx, j.client, render.Snapshot(planned)); err != nil || b.taken {
		return b, err
	}
	b.job, b.taken, err = j.observe.Job(ctx, owner, planned.Job)
	return b, err
}

// remove deletes a Job and its Pods.
func (j *jobs) remove(ctx context.Context, job *batchv1.Job) error {
	if job == nil || !job.DeletionTimestamp.IsZero() {
		return nil
	}
	err := j.client.Delete(ctx, job, client.Preconditions{UID: new(job.UID)},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err = client.IgnoreNotFound(err); err != nil {
		return fmt.Errorf("delete the Job %q: %w", job.Name, err)
	}
	return nil
}

// report is a status to be written: the object as it was read and as it should be, and the condition that events are
// about.
type report struct {
	before, now client.Object
	was, is     *metav1.Condition
	action      string
	then        ctrl.Result // the result, unless the object has changed since it was read
}

// write writes a status if it differs, and records an event if the reason is new, unless the Job only waits.
func (j *jobs) write(ctx context.Context, r report) (ctrl.Result, error) {
	if equality.Semantic.DeepEqual(r.before, r.now) {
		return r.then, nil
	}
	is := *r.is // The answer overwrites the object.
	patch := client.MergeFromWithOptions(r.before, client.MergeFromWithOptimisticLock{})
	switch err := j.client.Status().Patch(ctx, r.now, patch); {
	case apierrors.IsNotFound(err):
		return ctrl.Result{}, nil
	case apierrors.IsConflict(err):
		return ctrl.Result{RequeueAfter: changedRetry}, nil
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("write the status: %w", err)
	}
	if is.Reason != cachev1.ReasonBootstrapWaiting && (r.was == nil || r.was.Reason != is.Reason) {
		log.FromContext(ctx).Info(is.Message, "reason", is.Reason)
		note := status.Shorten(is.Message, status.LongestNote)
		j.events.Eventf(r.before, nil, eventTypeOf(is.Reason), is.Reason, r.action, "%s", note)
	}
	return r.then, nil
}

// awaited returns when to check again a state that no event reports.
func awaited(job *batchv1.Job, unmet *plan.Unmet, taken bool) ctrl.Result {
	waits := taken
	switch {
	case job != nil:
		isCached := observe.JobSelector().Matches(labels.Set(job.Labels))
		waits = !observe.IsJobOver(job) && (!observe.IsJobBusy(job) || !isCached)
	case unmet != nil:
		waits = unmet.Reason == cachev1.ReasonSecretNotFound
	}
	if waits {
		return ctrl.Result{RequeueAfter: awaitedRetry}
	}
	return ctrl.Result{}
}

// hasOtherServers reports whether a Job that is not over has other servers than its cache has now.
func hasOtherServers(job *batchv1.Job, mc *cachev1.Memcached) bool {
	return mc != nil && !observe.IsJobOver(job) && job.Annotations[names.AnnotationServers] != plan.ServerNames(mc)
}

// eventTypeOf returns Normal for the reasons of a success, or of progress.
func eventTypeOf(reason string) string {
	switch reason {
	case cachev1.ReasonSaving, cachev1.ReasonSaved, cachev1.ReasonBootstrapRestoring, cachev1.ReasonBootstrapRestored:
		return corev1.EventTypeNormal
	}
	return corev1.EventTypeWarning
}
