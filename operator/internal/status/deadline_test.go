package status

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

const deadline = 600 * time.Second

// unschedulable returns a cache of three Pods, of which the scheduler can place only two after the Deployment was
// complete.
func unschedulable() Input {
	in := rolledOut()
	in.Now = time.Unix(1_700_000_000, 0)
	in.Snapshot.Deployment().Spec.ProgressDeadlineSeconds = new(int32(deadline.Seconds()))
	status := &in.Snapshot.Deployment().Status
	status.ReadyReplicas, status.AvailableReplicas = 2, 2
	in.Snapshot.Pods[0] = observe.Pod{Name: "cache-a", Problem: "cannot be scheduled: no room"}
	return in
}

func progressing(in *Input) *appsv1.DeploymentCondition {
	return &in.Snapshot.Deployment().Status.Conditions[0]
}

// after returns a cache whose state has not changed for this time.
func after(in Input, time time.Duration) Input {
	in.Memcached.Status = Evaluate(in)
	in.Now = in.Now.Add(time)
	return in
}

func reasonAndType(status cachev1.MemcachedStatus) string {
	for _, conditionType := range []string{cachev1.ConditionReconciling, cachev1.ConditionStalled, cachev1.ConditionReady} {
		if condition := meta.FindStatusCondition(status.Conditions, conditionType); condition != nil {
			return condition.Type + " " + condition.Reason
		}
	}
	return ""
}

const (
	isStalled     = "Stalled ProgressDeadlineExceeded"
	isReconciling = "Reconciling PodsNotReady"
	isRollingOut  = "Reconciling RollingOut"
)

func TestACacheWithoutProgressIsStalledAfterTheDeadline(t *testing.T) {
	timedOutAt := func(in *Input, at time.Time) {
		*progressing(in) = appsv1.DeploymentCondition{
			Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded",
			LastUpdateTime: metav1.NewTime(at),
		}
	}
	tests := map[string]struct {
		waited time.Duration
		change func(*Input)
		want   string
	}{
		"a Pod can't be scheduled":               {waited: deadline, want: isStalled},
		"a Pod can't be scheduled, a bit sooner": {waited: deadline - time.Second, want: isReconciling},
		"a Pod does not answer": {
			waited: deadline, want: isStalled,
			change: func(in *Input) { in.Snapshot.Pods[0] = observe.Pod{Name: "cache-a", Unresponsive: true} },
		},
		"the quota is full": {
			waited: deadline, want: isStalled,
			change: func(in *Input) {
				in.Snapshot.Pods = in.Snapshot.Pods[1:]
				status := &in.Snapshot.Deployment().Status
				status.Replicas, status.UpdatedReplicas = 2, 2
				status.Conditions = append(status.Conditions, appsv1.DeploymentCondition{
					Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota",
				})
			},
		},
		"the quota has no room for a ReplicaSet": {
			waited: deadline, want: isStalled,
			change: func(in *Input) { progressing(in).Reason = "ReplicaSetCreateError" },
		},
		"no Deployment": {
			waited: deadline, want: isStalled,
			change: func(in *Input) {
				in.Snapshot.Objects, in.Plan.Rollout.ProgressDeadlineSeconds = nil, int32(deadline.Seconds())
			},
		},
		"another Pod has become ready in the meantime": {
			waited: deadline, want: isReconciling,
			change: func(in *Input) { in.Snapshot.Progressed = in.Now.Add(-time.Minute) },
		},
		"the last Pod became ready long ago": {
			waited: 3 * deadline, want: isStalled,
			change: func(in *Input) { in.Snapshot.Progressed = in.Now.Add(-deadline) },
		},
		"the spec is new": {
			waited: 3 * deadline, want: isReconciling,
			change: func(in *Input) { in.Memcached.Generation++ },
		},
		"the Deployment's controller times a rollout": {
			waited: 10 * deadline, want: isReconciling,
			change: func(in *Input) { progressing(in).Reason = "ReplicaSetUpdated" },
		},
		"the Deployment's controller finds no progress": {
			waited: time.Second, want: isStalled,
			change: func(in *Input) { timedOutAt(in, in.Now) },
		},
		"the Deployment's controller found no progress with the former spec": {
			waited: deadline, want: isReconciling,
			change: func(in *Input) { in.Memcached.Generation++; timedOutAt(in, in.Now.Add(-time.Minute)) },
		},
		"the Deployment is paused": {
			waited: 3 * deadline, want: isReconciling,
			change: func(in *Input) { in.Snapshot.Deployment().Spec.Paused = true },
		},
		"the Deployment was paused until now": {
			waited: 3 * deadline, want: isReconciling,
			change: func(in *Input) { progressing(in).Reason = "DeploymentPaused" },
		},
		"the Deployment has no deadline": {
			waited: 3 * deadline, want: isReconciling,
			change: func(in *Input) { in.Snapshot.Deployment().Spec.ProgressDeadlineSeconds = nil },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := after(unschedulable(), tc.waited)
			if tc.change != nil {
				tc.change(&in)
			}
			now := Evaluate(in)
			if diff := cmp.Diff(tc.want, reasonAndType(now)); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			in.Memcached.Status = now
			if again := Evaluate(in); Differs(now, again) {
				t.Errorf("the next status differs:\n%+v\n%+v", now, again)
			}
		})
	}
}

func TestTheMessageOfAStalledCacheHasTheDeadlineAndTheCause(t *testing.T) {
	now := Evaluate(after(unschedulable(), deadline))
	want := "No progress for 600 seconds (spec.rollout.progressDeadlineSeconds): 2 of 3 Pods ready; " +
		"1 Pod: cannot be scheduled: no room"
	if diff := cmp.Diff(want, meta.FindStatusCondition(now.Conditions, cachev1.ConditionStalled).Message); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

func TestAStalledCacheRecoversByItself(t *testing.T) {
	in := after(after(unschedulable(), deadline), time.Hour)
	if got := reasonAndType(Evaluate(in)); got != isStalled {
		t.Fatalf("an hour later it is %s", got)
	}
	in.Snapshot.Progressed = in.Now.Add(-time.Second)
	in = after(in, deadline-time.Minute)
	if got := reasonAndType(in.Memcached.Status); got != isReconciling {
		t.Errorf("when a Pod becomes ready, it is %s", got)
	}
	in = after(in, time.Minute)
	if got := reasonAndType(in.Memcached.Status); got != isReconciling {
		t.Errorf("before the deadline has passed once more, it is %s", got)
	}
	if got := reasonAndType(Evaluate(in)); got != isStalled {
		t.Errorf("after another deadline, it is %s", got)
	}
	ready := rolledOut()
	in.Snapshot = ready.Snapshot
	if got := reasonAndType(Evaluate(in)); got != "Ready AllPodsReady" {
		t.Errorf("when all Pods are ready, it is %s", got)
	}
}

// TestTheTimeOfAConditionIsThatOfItsStatus also changes the generation: the deadline begins again, but the time of the
// condition stays, because the deadline uses a separate field of the status.
func TestTheTimeOfAConditionIsThatOfItsStatus(t *testing.T) {
	in := unschedulable()
	began := in.Now
	steps := []struct {
		name         string
		change       func()
		conditions   map[string]time.Duration // type, and how long after the beginning its status changed
		progressing  time.Duration
		isNotWorking bool
	}{
		{name: "a Pod is missing", conditions: map[string]time.Duration{"Ready": 0, "Reconciling": 0}},
		{
			name: "it is missing for another reason", change: func() { in.Snapshot.Pods[0].Problem = "exited" },
			conditions: map[string]time.Duration{"Ready": 0, "Reconciling": 0},
		},
		{
			name: "the spec changes", change: func() { in.Memcached.Generation++ }, progressing: 2 * time.Minute,
			conditions: map[string]time.Duration{"Ready": 0, "Reconciling": 0},
		},
		{
			name: "the spec is invalid", change: func() { in.Invalid = &plan.Invalid{} }, isNotWorking: true,
			conditions: map[string]time.Duration{"Ready": 0, "Stalled": 3 * time.Minute},
		},
		{
			name: "all Pods are ready", change: func() { in.Invalid, in.Snapshot = nil, rolledOut().Snapshot }, isNotWorking: true,
			conditions: map[string]time.Duration{"Ready": 4 * time.Minute},
		},
		{
			name: "a Pod fails", change: func() { in.Snapshot = unschedulable().Snapshot }, progressing: 5 * time.Minute,
			conditions: map[string]time.Duration{"Ready": 5 * time.Minute, "Reconciling": 5 * time.Minute},
		},
	}
	for _, step := range steps {
		if step.change != nil {
			step.change()
		}
		in = after(in, time.Minute)
		status := in.Memcached.Status
		got := map[string]time.Duration{}
		for _, condition := range status.Conditions {
			if condition.Type != cachev1.ConditionUpdatePending {
				got[condition.Type] = condition.LastTransitionTime.Sub(began)
			}
		}
		if diff := cmp.Diff(step.conditions, got); diff != "" {
			t.Errorf("%s: the times of the conditions (-want +got):\n%s", step.name, diff)
		}
		if since := status.ProgressingSince; (since == nil) != step.isNotWorking ||
			since != nil && since.Sub(began) != step.progressing {
			t.Errorf("%s: progressing since %v", step.name, since)
		}
	}
}

// TestALongRolloutWithProgressIsNeverStalled replaces a hundred Pods, one every nine minutes; one of them has a problem
// all the time.
func TestALongRolloutWithProgressIsNeverStalled(t *testing.T) {
	for _, reason := range []string{"ReplicaSetUpdated", "NewReplicaSetAvailable"} {
		in := unschedulable()
		in.Plan.Size = 100
		for pods := range int32(100) {
			progressing(&in).Reason = reason
			in.Snapshot.Progressed = in.Now
			status := &in.Snapshot.Deployment().Status
			status.Replicas, status.UpdatedReplicas, status.ReadyReplicas, status.AvailableReplicas = 100, 100, pods, pods
			in.Snapshot.Pods = []observe.Pod{{Name: fmt.Sprint("cache-", pods), Problem: "cannot be scheduled: no room yet"}}
			in = after(in, 9*time.Minute)
			if got := reasonAndType(Evaluate(in)); got != isReconciling && got != isRollingOut {
				t.Fatalf("%s: with %d of 100 Pods ready it is %s", reason, pods, got)
			}
		}
	}
}

func TestTheStatusIsDueWhenTheDeadlinePasses(t *testing.T) {
	tests := map[string]struct {
		waited time.Duration
		change func(*Input)
		want   time.Duration
	}{
		"a Pod is missing from now on":        {want: deadline},
		"a Pod has been missing for a minute": {waited: time.Minute, want: deadline - time.Minute},
		"it is Stalled already":               {waited: deadline, want: 0},
		"it is Ready":                         {change: func(in *Input) { in.Snapshot = rolledOut().Snapshot }, want: 0},
		"another Pod became ready": {
			waited: time.Minute, want: deadline - time.Second,
			change: func(in *Input) { in.Snapshot.Progressed = in.Now.Add(-time.Second) },
		},
		"the Deployment's controller times a rollout": {
			change: func(in *Input) { progressing(in).Reason = "ReplicaSetUpdated" }, want: 0,
		},
		"the spec is new": {
			waited: time.Minute, change: func(in *Input) { in.Memcached.Generation++ }, want: deadline,
		},
		"something failed": {
			waited: time.Minute, change: func(in *Input) { in.Err = fmt.Errorf("no answer") }, want: 0,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := after(unschedulable(), tc.waited)
			if tc.waited == 0 {
				in.Memcached.Status = cachev1.MemcachedStatus{}
			}
			if tc.change != nil {
				tc.change(&in)
			}
			if got := Deadline(in, Evaluate(in)); got != tc.want {
				t.Errorf("due in %s, want %s", got, tc.want)
			}
		})
	}
}
