package status

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// Reasons of a Deployment's condition Progressing, as the Deployment controller writes them
// (pkg/controller/deployment/util of Kubernetes).
const (
	replicaSetAvailable = "NewReplicaSetAvailable"
	replicaSetRefused   = "ReplicaSetCreateError"
	timedOut            = "ProgressDeadlineExceeded"
)

// late returns the verdict Stalled instead of reconciling, if there was no progress within the deadline.
func late(in Input, v verdict) verdict {
	if late, _ := timed(in); !isTimed(v.reason) || !late {
		return v
	}
	message := fmt.Sprintf("No progress for %d seconds (spec.rollout.progressDeadlineSeconds): %s",
		int(progressDeadline(in).Seconds()), v.message)
	return verdict{stalled, cachev1.ReasonProgressDeadlineExceeded, message}
}

// Deadline returns after what time a cache becomes Stalled without an event; 0 if it does not, or if an event reports
// it.
func Deadline(in Input, now cachev1.MemcachedStatus) time.Duration {
	reconciling := meta.FindStatusCondition(now.Conditions, cachev1.ConditionReconciling)
	if reconciling == nil || !isTimed(reconciling.Reason) {
		return 0
	}
	mc := *in.Memcached
	mc.Status, in.Memcached = now, &mc
	_, left := timed(in)
	return left
}

// isTimed reports whether a reason ends when Pods become ready.
func isTimed(reason string) bool {
	return reason == cachev1.ReasonRollingOut || reason == cachev1.ReasonHandingOver ||
		reason == cachev1.ReasonPodsNotReady
}

// timed reports whether the deadline of a timed reason has passed, and otherwise how much time is left. The Deployment
// controller measures the time of a rollout until the Deployment was complete once. This function measures the time of
// Pods that are added later or stop being ready, and of a new spec after a rollout that exceeded its deadline.
func timed(in Input) (late bool, left time.Duration) {
	deployment, since := in.deployment(), progressingSince(in, true)
	if deployment != nil && deployment.Spec.Paused {
		return false, 0
	}
	if progressing := deploymentCondition(in.deployed(), appsv1.DeploymentProgressing); progressing != nil {
		switch progressing.Reason {
		case timedOut:
			late = !progressing.LastUpdateTime.Time.Before(since)
		case replicaSetAvailable, replicaSetRefused:
		default:
			return false, 0
		}
	}
	deadline := progressDeadline(in)
	if late || deadline == 0 {
		return late, 0
	}
	if in.Snapshot.Progressed.After(since) {
		since = in.Snapshot.Progressed
	}
	left = since.Add(deadline).Sub(in.Now)
	return left <= 0, max(left, 0)
}

// progressingSince returns when the cache began to work towards the current generation: now if the work begins with
// this reconciliation, and the zero time if the deadline was exceeded before. The deadline begins again with each
// generation, and also when the cache no longer waits for a Secret.
func progressingSince(in Input, timed bool) time.Time {
	before := in.Memcached.Status
	stalled := meta.FindStatusCondition(before.Conditions, cachev1.ConditionStalled)
	ready := meta.FindStatusCondition(before.Conditions, cachev1.ConditionReady)
	switch {
	case before.ObservedGeneration != in.Memcached.Generation:
	case timed && ready != nil && ready.Reason == cachev1.ReasonSecretNotFound:
	case before.ProgressingSince != nil:
		return before.ProgressingSince.Time
	case stalled != nil && stalled.Reason == cachev1.ReasonProgressDeadlineExceeded:
		return time.Time{}
	}
	return in.Now.Truncate(time.Second) // The API stores whole seconds.
}

// progressDeadline returns the Deployment's progress deadline, or the plan's if there is no Deployment.
func progressDeadline(in Input) time.Duration {
	seconds := in.Plan.Rollout.ProgressDeadlineSeconds
	if deployment := in.deployment(); deployment != nil && deployment.Spec.ProgressDeadlineSeconds != nil {
		seconds = *deployment.Spec.ProgressDeadlineSeconds
	}
	return time.Duration(seconds) * time.Second
}
