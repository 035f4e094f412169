// Package snapshots saves and restores caches by Jobs: observe, plan, render, apply, status.
package snapshots

// What saving and restoring have in common: one Job each, and how a status is written.

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
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

// Without these rights, or without the API, nothing else of the operator changes.
// +kubebuilder:rbac:groups=cache.example.com,resources=memcachedsnapshots,verbs=get;list;watch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcachedsnapshots/status,verbs=patch
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete

const (
	// awaitedRetry is how often to look for what no event reports: a Secret, the Pod of a Job that does not start, or a
	// Job of another client that has the name.
	awaitedRetry = 15 * time.Second

	// changedRetry is how soon to reconcile again if the object was changed before its status was written.
	changedRetry = time.Second
)

// jobs is what both reconcilers depend on.
type jobs struct {
	client   client.Client
	observe  observe.SnapshotCollector
	defaults controller.Defaults
	events   events.EventRecorder
}

// read reads an object from the cache, and reports whether it exists and is not being deleted: the garbage collector
// deletes the Job.
func (j *jobs) read(ctx context.Context, request ctrl.Request, object client.Object) (exists bool, err error) {
	switch err := j.client.Get(ctx, request.NamespacedName, object); {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read %s: %w", request, err)
	}
	return object.GetDeletionTimestamp().IsZero(), nil
}

// create creates the Job of an object, and reads it, or reports that another one has its name.
func (j *jobs) create(
	ctx context.Context, owner client.Object, planned plan.Snapshot,
) (job *batchv1.Job, taken bool, err error) {
	taken, err = apply.CreateJob(ctx, j.client, render.Snapshot(planned))
	if err != nil || taken {
		return nil, taken, err
	}
	return j.observe.Job(ctx, owner, planned.Job)
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

// write patches the status of an object that was read before. Another change since is no error: then written is false.
func (j *jobs) write(ctx context.Context, before, now client.Object) (written bool, result ctrl.Result, err error) {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	switch err := j.client.Status().Patch(ctx, now, patch); {
	case apierrors.IsNotFound(err):
		return false, ctrl.Result{}, nil
	case apierrors.IsConflict(err):
		return false, ctrl.Result{RequeueAfter: changedRetry}, nil
	case err != nil:
		return false, ctrl.Result{}, fmt.Errorf("write the status: %w", err)
	}
	return true, ctrl.Result{}, nil
}

// record records an event of an object, and logs it.
func (j *jobs) record(ctx context.Context, object client.Object, eventType, action string, is metav1.Condition) {
	log.FromContext(ctx).Info(is.Message, "reason", is.Reason)
	j.events.Eventf(object, nil, eventType, is.Reason, action, "%s", status.Shorten(is.Message, status.LongestNote))
}

// awaited returns when to look again for what no event reports.
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

// hasOtherServers reports whether a Job that is not over has other servers than its cache has by now.
func hasOtherServers(job *batchv1.Job, mc *cachev1.Memcached) bool {
	return mc != nil && !observe.IsJobOver(job) && job.Annotations[names.AnnotationServers] != plan.ServerNames(mc)
}

// eventTypeOf is Normal for what succeeds.
func eventTypeOf(succeeds bool) string {
	if succeeds {
		return corev1.EventTypeNormal
	}
	return corev1.EventTypeWarning
}
