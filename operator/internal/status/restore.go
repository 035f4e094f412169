package status

// The condition Bootstrapped about a snapshot.

import (
	"encoding/json"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// RestoreInput is everything that the status of a cache depends on while its snapshot is not restored yet.
type RestoreInput struct {
	Memcached *cachev1.Memcached

	// Unmet is why the Job cannot begin yet; nil if it can.
	Unmet *plan.Unmet

	// Job is the Job that the Memcached controls; nil if there is none. Pods are the Pods of the Job, if they were
	// read.
	Job  *batchv1.Job
	Pods []corev1.Pod

	// Outdated: the Job does not restore what the spec requests, or restores it into other servers than the cache has. The
	// Job is being deleted.
	Outdated bool

	// Taken: a Job with the name exists, and the Memcached does not control it.
	Taken bool

	// Err is the error that ended the reconciliation.
	Err error

	Now time.Time
}

// EvaluateRestore returns the status of a cache with the condition Bootstrapped about its snapshot.
func EvaluateRestore(in RestoreInput) cachev1.MemcachedStatus {
	status, wanted := *in.Memcached.Status.DeepCopy(), plan.WantedSnapshot(in.Memcached)
	before := meta.FindStatusCondition(status.Conditions, cachev1.ConditionBootstrapped)
	if plan.IsRestored(in.Memcached) && before != nil && before.Reason == cachev1.ReasonBootstrapRestored {
		return status // The Job may have been deleted since.
	}
	reason, message := restored(in, wanted.Name, names.Restore(in.Memcached.Name))
	if reason == cachev1.ReasonBootstrapRestored {
		status.RestoredSnapshot = wanted.Name
	}
	writeBootstrapped(&status, reason, message, in.Memcached.Generation, in.Now)
	return status
}

// keepRestored sets the generation of the condition about a restored snapshot to that of the current spec.
func keepRestored(status *cachev1.MemcachedStatus, mc *cachev1.Memcached) {
	bootstrapped := meta.FindStatusCondition(status.Conditions, cachev1.ConditionBootstrapped)
	if plan.IsRestored(mc) && bootstrapped != nil {
		bootstrapped.ObservedGeneration = mc.Generation
	}
}

// removeRestored removes the condition if it is about a snapshot that the spec no longer requests.
func removeRestored(status *cachev1.MemcachedStatus) {
	bootstrapped := meta.FindStatusCondition(status.Conditions, cachev1.ConditionBootstrapped)
	if bootstrapped == nil {
		return
	}
	switch bootstrapped.Reason {
	case cachev1.ReasonBootstrapRestoring, cachev1.ReasonBootstrapRestored, cachev1.ReasonRestoreFailed:
		meta.RemoveStatusCondition(&status.Conditions, cachev1.ConditionBootstrapped)
	}
}

// restored returns the reason and the message of the condition.
func restored(in RestoreInput, snapshot, job string) (reason, message string) {
	switch {
	case plan.IsRestored(in.Memcached): // The spec requested another snapshot in the meantime.
		return cachev1.ReasonBootstrapRestored, fmt.Sprintf("The snapshot %q was restored before. Clients may use the cache",
			snapshot)
	case in.Err != nil: // Without the Pods of a Job, its result is not known.
		return cachev1.ReasonBootstrapFailed, in.Err.Error()
	case in.Taken:
		return cachev1.ReasonBootstrapFailed, fmt.Sprintf("Job %q exists, and does not belong to this Memcached: delete "+
			"the Job, or give the Memcached another name", job)
	case in.Outdated:
		return cachev1.ReasonBootstrapWaiting, fmt.Sprintf("Job %q is being deleted, "+
			"because it restores another snapshot than the spec requests, "+
			"or restores into other servers than the cache has", job)
	case in.Job != nil:
		return restoredBy(in, snapshot, job)
	case in.Unmet != nil:
		return cachev1.ReasonBootstrapWaiting, in.Unmet.Message
	}
	return cachev1.ReasonBootstrapRestoring, fmt.Sprintf("Job %q is being created", job)
}

func restoredBy(in RestoreInput, snapshot, job string) (reason, message string) {
	ended := observe.EndOf(in.Job)
	if ended.Type == batchv1.JobComplete {
		return cachev1.ReasonBootstrapRestored, fmt.Sprintf("The snapshot %q is restored%s. Clients may use the cache",
			snapshot, howMany(in.Pods))
	}
	if ended.Type == batchv1.JobFailed {
		return cachev1.ReasonRestoreFailed, fmt.Sprintf("Job %q failed: %s. Correct the cause, then try again: "+
			"kubectl -n %s delete job %[1]s", job, causeOf(in.Pods, ended), in.Memcached.Namespace)
	}
	return cachev1.ReasonBootstrapRestoring, runs(in.Job, in.Pods, in.Now, job,
		fmt.Sprintf("adds the items of the snapshot %q", snapshot))
}

// howMany describes the result of memcached-snapshot, if it is known.
func howMany(pods []corev1.Pod) string {
	var found struct {
		Restored struct{ Added, Kept, Expired, Refused int64 }
	}
	text, known := resultOf(pods)
	if !known || json.Unmarshal([]byte(text), &found) != nil {
		return ""
	}
	r := found.Restored
	return fmt.Sprintf(": %d items were added; %d keys were in the cache already, %d had expired, %d were refused",
		r.Added, r.Kept, r.Expired, r.Refused)
}
