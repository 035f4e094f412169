package status

// The whole status of a MemcachedSnapshot.

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

// SnapshotInput is everything that the status of a MemcachedSnapshot depends on.
type SnapshotInput struct {
	Snapshot *cachev1.MemcachedSnapshot

	// Unmet is why the snapshot cannot begin yet; nil if it can.
	Unmet *plan.Unmet

	// Job is the Job that the MemcachedSnapshot controls; nil if there is none. Pods are the Pods of the Job, if they
	// were read.
	Job  *batchv1.Job
	Pods []corev1.Pod

	// Restricted: spec.networkPolicy of the Memcached lists the clients that may connect.
	Restricted bool

	// Changed: the cache has other servers than the Job saves. The Job has not ended, and is being deleted.
	Changed bool

	// Taken: a Job with the name exists, and the MemcachedSnapshot does not control it.
	Taken bool

	// Err is the error that ended the reconciliation.
	Err error

	Now time.Time
}

// IsSnapshotOver reports whether a snapshot has succeeded or failed. Then its status does not change any more.
func IsSnapshotOver(snapshot *cachev1.MemcachedSnapshot) bool {
	ready := meta.FindStatusCondition(snapshot.Status.Conditions, cachev1.ConditionReady)
	return ready != nil && (ready.Reason == cachev1.ReasonSaved || ready.Reason == cachev1.ReasonSaveFailed)
}

// EvaluateSnapshot returns the status of a MemcachedSnapshot that is not over.
func EvaluateSnapshot(in SnapshotInput) cachev1.MemcachedSnapshotStatus {
	status := *in.Snapshot.Status.DeepCopy()
	status.ObservedGeneration = in.Snapshot.Generation
	writeConditions(&status.Conditions, judgeSnapshot(&status, in), status.ObservedGeneration, in.Now)
	return status
}

func judgeSnapshot(status *cachev1.MemcachedSnapshotStatus, in SnapshotInput) verdict {
	if in.Job != nil {
		status.StartTime, status.SnapshotName = new(in.Job.CreationTimestamp), plan.SnapshotName(in.Snapshot)
	}
	switch {
	case in.Err != nil: // Without the Pods of a Job, its result is not known.
		return verdict{reconciling, cachev1.ReasonApplyFailed, in.Err.Error()}
	case in.Job != nil:
		return judgeJob(status, in)
	case in.Taken:
		return verdict{stalled, cachev1.ReasonOwnershipConflict, fmt.Sprintf("Job %q exists, and does not belong to this "+
			"MemcachedSnapshot: delete the Job, or create a MemcachedSnapshot with another name", in.Snapshot.Name)}
	case status.StartTime != nil:
		return verdict{stalled, cachev1.ReasonSaveFailed, fmt.Sprintf("Job %q was deleted before its result was known. %s",
			in.Snapshot.Name, another)}
	case in.Unmet != nil:
		return verdict{reconciling, in.Unmet.Reason, in.Unmet.Message}
	}
	return verdict{reconciling, cachev1.ReasonSaving, fmt.Sprintf("Job %q is being created", in.Snapshot.Name)}
}

// another says what the user can do after a failure.
const another = "The save is not tried again: create another MemcachedSnapshot"

func judgeJob(status *cachev1.MemcachedSnapshotStatus, in SnapshotInput) verdict {
	if in.Changed {
		return verdict{stalled, cachev1.ReasonSaveFailed, fmt.Sprintf("The servers of the Memcached %q "+
			"changed while it was saved. %s", in.Snapshot.Spec.MemcachedRef.Name, another)}
	}
	ended := observe.EndOf(in.Job)
	if ended.Type == batchv1.JobComplete {
		status.CompletionTime = in.Job.Status.CompletionTime
		return saved(status, in)
	}
	if ended.Type == batchv1.JobFailed {
		return verdict{stalled, cachev1.ReasonSaveFailed, failed(in, ended)}
	}
	return verdict{reconciling, cachev1.ReasonSaving, runs(in.Job, in.Pods, in.Now, in.Snapshot.Name, "saves the keys")}
}

// result is the termination message that memcached-snapshot writes for its container.
type result struct {
	Servers int32 `json:"servers"`
	Items   int64 `json:"items"`
	Bytes   int64 `json:"bytes"`
	Stored  int64 `json:"stored"`
}

func saved(status *cachev1.MemcachedSnapshotStatus, in SnapshotInput) verdict {
	var found result
	text, known := resultOf(in.Pods)
	if !known || json.Unmarshal([]byte(text), &found) != nil || found.Servers == 0 {
		return verdict{done, cachev1.ReasonSaved, fmt.Sprintf("The snapshot %q is written. It is not known how many "+
			"items it has: "+
			"the Pod of the Job %q was deleted, or has no result", status.SnapshotName, in.Snapshot.Name)}
	}
	status.Servers, status.Items, status.Bytes, status.StoredBytes = found.Servers, found.Items, found.Bytes, found.Stored
	return verdict{done, cachev1.ReasonSaved, fmt.Sprintf("The snapshot %q is written: %d items of %d servers",
		status.SnapshotName, found.Items, found.Servers)}
}

func failed(in SnapshotInput, condition batchv1.JobCondition) string {
	text := causeOf(in.Pods, condition)
	if in.Restricted {
		text += fmt.Sprintf(". spec.networkPolicy.from of the Memcached must admit Pods with the label %s: %s",
			names.LabelSnapshot, in.Snapshot.Spec.MemcachedRef.Name)
	}
	return fmt.Sprintf("Job %q failed: %s. %s", in.Snapshot.Name, text, another)
}
