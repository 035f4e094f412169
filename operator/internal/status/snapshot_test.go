package status

import (
	"errors"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

func podOfJob(phase corev1.PodPhase, code int32, message string) corev1.Pod {
	return corev1.Pod{Status: corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "snapshot", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message, Reason: "Error"}},
	}}}}
}

func jobWith(condition batchv1.JobConditionType, message string) *batchv1.Job {
	return &batchv1.Job{Status: batchv1.JobStatus{
		CompletionTime: new(metav1.Unix(1_800_000_000, 0)),
		Conditions:     []batchv1.JobCondition{{Type: condition, Status: corev1.ConditionTrue, Message: message}},
	}}
}

// jobSince returns a running Job that was created this long ago.
func jobSince(before time.Duration) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team", CreationTimestamp: metav1.NewTime(time.Unix(1_800_000_000, 0).Add(-before)),
	}}
}

func TestTheStatusOfASnapshotSaysHowFarItIs(t *testing.T) {
	const whole = `{"name":"a","servers":3,"items":7,"bytes":90,"stored":40}` + "\n"
	pending := corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "no node"},
	}}}
	for sentence, tc := range map[string]struct {
		in                        SnapshotInput
		conditions, reason, words string
		items                     int64
	}{
		"the cache is missing": {SnapshotInput{Unmet: &plan.Unmet{Reason: cachev1.ReasonMemcachedNotFound, Message: "no cache"}},
			"Reconciling", cachev1.ReasonMemcachedNotFound, "no cache", 0},
		"the API server refuses": {SnapshotInput{Err: errors.New("no quota")}, "Reconciling", cachev1.ReasonApplyFailed, "no quota", 0},
		"the name is taken":      {SnapshotInput{Taken: true}, "Stalled", cachev1.ReasonOwnershipConflict, `Job "nightly" exists`, 0},
		"it runs":                {SnapshotInput{Job: jobSince(0)}, "Reconciling", cachev1.ReasonSaving, `Job "nightly" saves the keys`, 0},
		"it has no Pod":          {SnapshotInput{Job: jobSince(2 * time.Minute)}, "Reconciling", cachev1.ReasonSaving, "has no Pod. Its events have the cause, such as a quota: kubectl -n team describe job nightly", 0},
		"its Pod waits for a volume": {SnapshotInput{Job: jobSince(2 * time.Minute), Pods: []corev1.Pod{{Status: corev1.PodStatus{Phase: corev1.PodPending}}}},
			"Reconciling", cachev1.ReasonSaving, "kubectl -n team describe pods -l batch.kubernetes.io/job-name=nightly", 0},
		"the Pod that failed is deleted": {SnapshotInput{Job: &batchv1.Job{Status: batchv1.JobStatus{Failed: 1}}}, "Reconciling", cachev1.ReasonSaving, "tries again: the Pod of the last attempt was deleted", 0},
		"the program panics": {SnapshotInput{Job: jobWith(batchv1.JobFailed, "limit"), Pods: []corev1.Pod{podOfJob(corev1.PodFailed, 2, "panic: nil pointer\n\ngoroutine 1 [running]:\nmain.go:25 +0xf1")}},
			"Stalled", cachev1.ReasonSaveFailed, "failed: panic: nil pointer. The save is not", 0},
		"the cache is scaled":     {SnapshotInput{Job: jobSince(0), Changed: true}, "Stalled", cachev1.ReasonSaveFailed, `The servers of the Memcached "cache" changed while it was saved. The save is not tried again`, 0},
		"the result is no result": {SnapshotInput{Job: jobWith(batchv1.JobComplete, ""), Pods: []corev1.Pod{podOfJob(corev1.PodSucceeded, 0, "{}")}}, "Ready", cachev1.ReasonSaved, "It is not known how many items it has", 0},
		"it does not start":       {SnapshotInput{Job: &batchv1.Job{}, Pods: []corev1.Pod{pending}}, "Reconciling", cachev1.ReasonSaving, "does not start: cannot be scheduled: no node", 0},
		"it tries again": {SnapshotInput{Job: &batchv1.Job{Status: batchv1.JobStatus{Failed: 1}}, Pods: []corev1.Pod{podOfJob(corev1.PodFailed, 1, "5 of about 9 items\nerror: no bucket")}},
			"Reconciling", cachev1.ReasonSaving, "tries again: no bucket", 0},
		"it is saved": {SnapshotInput{Job: jobWith(batchv1.JobComplete, ""), Pods: []corev1.Pod{podOfJob(corev1.PodFailed, 1, "error: a"), podOfJob(corev1.PodSucceeded, 0, whole)}},
			"Ready", cachev1.ReasonSaved, `"nightly-20261127T120000Z-1a2b3c4d" is written: 7 items of 3 servers`, 7},
		"it is saved, and the Pod is deleted":             {SnapshotInput{Job: jobWith(batchv1.JobComplete, "")}, "Ready", cachev1.ReasonSaved, "It is not known how many items it has", 0},
		"the Pods of a Job that has ended cannot be read": {SnapshotInput{Job: jobWith(batchv1.JobComplete, ""), Err: errors.New("no answer")}, "Reconciling", cachev1.ReasonApplyFailed, "no answer", 0},
		"it fails":                                             {SnapshotInput{Job: jobWith(batchv1.JobFailed, "limit"), Pods: []corev1.Pod{podOfJob(corev1.PodFailed, 1, "error: no\n bucket\n")}}, "Stalled", cachev1.ReasonSaveFailed, `Job "nightly" failed: no bucket. The save is not tried again: create another`, 0},
		"it fails without a word":                              {SnapshotInput{Job: jobWith(batchv1.JobFailed, "limit"), Pods: []corev1.Pod{podOfJob(corev1.PodFailed, 137, "")}}, "Stalled", cachev1.ReasonSaveFailed, "exited with code 137", 0},
		"it fails, and the Pods are deleted":                   {SnapshotInput{Job: jobWith(batchv1.JobFailed, "deadline")}, "Stalled", cachev1.ReasonSaveFailed, "failed: deadline. The save is", 0},
		"it fails, and the cache names its clients":            {SnapshotInput{Restricted: true, Job: jobWith(batchv1.JobFailed, "timeout")}, "Stalled", cachev1.ReasonSaveFailed, "must admit Pods with the label cache.example.com/snapshot: cache", 0},
		"the Job is deleted while it runs, and the cache, too": {SnapshotInput{Snapshot: startedBefore(), Unmet: &plan.Unmet{}}, "Stalled", cachev1.ReasonSaveFailed, "was deleted before its result was known", 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := tc.in
			if in.Snapshot == nil {
				in.Snapshot = notBegun()
			}
			in.Now = time.Unix(1_800_000_000, 0)
			got := EvaluateSnapshot(in)
			var set []string
			for _, condition := range got.Conditions {
				if condition.Status == metav1.ConditionTrue {
					set = append(set, condition.Type)
				}
			}
			ready := meta.FindStatusCondition(got.Conditions, cachev1.ConditionReady)
			if strings.Join(set, " ") != tc.conditions || ready.Reason != tc.reason || !strings.Contains(ready.Message, tc.words) {
				t.Errorf("got %v %s: %s", set, ready.Reason, ready.Message)
			}
			if got.Items != tc.items || (got.CompletionTime != nil) != (tc.conditions == "Ready") {
				t.Errorf("got %+v", got)
			}
			over := in.Snapshot.DeepCopy()
			over.Status = got
			if want := tc.reason == cachev1.ReasonSaved || tc.reason == cachev1.ReasonSaveFailed; IsSnapshotOver(over) != want {
				t.Errorf("over: %v", !want)
			}
		})
	}
}

func notBegun() *cachev1.MemcachedSnapshot {
	return &cachev1.MemcachedSnapshot{
		ObjectMeta: metav1.ObjectMeta{Name: "nightly", UID: "1a2b3c4d-0000", CreationTimestamp: metav1.NewTime(time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC))},
		Spec:       cachev1.MemcachedSnapshotSpec{MemcachedRef: cachev1.MemcachedReference{Name: "cache"}},
	}
}

func startedBefore() *cachev1.MemcachedSnapshot {
	snapshot := notBegun()
	snapshot.Status.StartTime = new(metav1.Unix(1_800_000_000, 0))
	return snapshot
}
