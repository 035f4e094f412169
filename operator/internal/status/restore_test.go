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

func TestTheConditionBootstrappedSaysHowFarARestoreIs(t *testing.T) {
	const whole = `{"items":7,"restored":{"added":4,"kept":1,"expired":2,"refused":0}}` + "\n"
	for sentence, tc := range map[string]struct {
		in            RestoreInput
		reason, words string
	}{
		"the cache is not ready": {RestoreInput{Unmet: &plan.Unmet{Message: "a rollout"}}, cachev1.ReasonBootstrapWaiting, "a rollout"},
		"the API server refuses": {RestoreInput{Err: errors.New("no quota")}, cachev1.ReasonBootstrapFailed, "no quota"},
		"the name is taken":      {RestoreInput{Taken: true}, cachev1.ReasonBootstrapFailed, `Job "cache-restore" exists, and does not belong`},
		"the spec has changed":   {RestoreInput{Outdated: true, Job: jobWith(batchv1.JobComplete, "")}, cachev1.ReasonBootstrapWaiting, "is being deleted"},
		"it runs":                {RestoreInput{Job: jobSince(0)}, cachev1.ReasonBootstrapRestoring, `adds the items of the snapshot "nightly"`},
		"it tries again": {RestoreInput{Job: &batchv1.Job{Status: batchv1.JobStatus{Failed: 1}}, Pods: []corev1.Pod{podOfJob(corev1.PodFailed, 1, "error: no bucket")}},
			cachev1.ReasonBootstrapRestoring, "tries again: no bucket"},
		"it is restored": {RestoreInput{Job: jobWith(batchv1.JobComplete, ""), Pods: []corev1.Pod{podOfJob(corev1.PodSucceeded, 0, whole)}},
			cachev1.ReasonBootstrapRestored, `"nightly" is restored: 4 items were added; 1 keys were in the cache already, 2 had expired, 0 were refused. Clients may`},
		"it is restored, and the Pod is deleted": {RestoreInput{Job: jobWith(batchv1.JobComplete, "")}, cachev1.ReasonBootstrapRestored, `"nightly" is restored. Clients may`},
		"it fails": {RestoreInput{Job: jobWith(batchv1.JobFailed, "limit"), Pods: []corev1.Pod{podOfJob(corev1.PodFailed, 1, "error: no bucket")}},
			cachev1.ReasonRestoreFailed, `Job "cache-restore" failed: no bucket. Correct the cause, then try again: kubectl -n team delete job cache-restore`},
	} {
		t.Run(sentence, func(t *testing.T) {
			tc.in.Memcached, tc.in.Now = filledBySnapshot(), time.Unix(1_800_000_000, 0)
			now := EvaluateRestore(tc.in)
			is := meta.FindStatusCondition(now.Conditions, cachev1.ConditionBootstrapped)
			if is.Reason != tc.reason || !strings.Contains(is.Message, tc.words) || is.ObservedGeneration != tc.in.Memcached.Generation {
				t.Errorf("got %+v", is)
			}
			done := tc.reason == cachev1.ReasonBootstrapRestored
			if (is.Status == metav1.ConditionTrue) != done || (now.RestoredSnapshot == "nightly") != done {
				t.Errorf("%s, restored %q", is.Status, now.RestoredSnapshot)
			}
		})
	}
}

func filledBySnapshot() *cachev1.Memcached {
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "cache", Generation: 4}}
	mc.Spec.Bootstrap = &cachev1.Bootstrap{From: cachev1.BootstrapSource{Snapshot: &cachev1.BootstrapSnapshot{Name: "nightly"}}}
	return mc
}

func TestWhatWasRestoredIsKeptWhileTheSpecHasIt(t *testing.T) {
	bootstrap := filledBySnapshot().Spec.Bootstrap
	for sentence, tc := range map[string]struct {
		wanted     *cachev1.Bootstrap
		restored   string
		generation int64 // of the condition; 0 if there is none
	}{
		"the same snapshot":    {bootstrap, "nightly", 7},
		"no bootstrap":         {nil, "", 0},
		"servers instead":      {&cachev1.Bootstrap{From: cachev1.BootstrapSource{Servers: []string{"a:1"}}}, "", 0},
		"another snapshot yet": {&cachev1.Bootstrap{From: cachev1.BootstrapSource{Snapshot: &cachev1.BootstrapSnapshot{Name: "other"}}}, "nightly", 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := rolledOut()
			in.Memcached.Generation, in.Memcached.Spec.Bootstrap = 7, tc.wanted
			in.Memcached.Status.RestoredSnapshot = "nightly"
			writeBootstrapped(&in.Memcached.Status, cachev1.ReasonBootstrapRestored, "restored", 1, in.Now)
			now := Evaluate(in)
			is := meta.FindStatusCondition(now.Conditions, cachev1.ConditionBootstrapped)
			if now.RestoredSnapshot != tc.restored || (is != nil) != (tc.generation > 0) || is != nil && is.ObservedGeneration != tc.generation {
				t.Errorf("restored %q: %+v", now.RestoredSnapshot, is)
			}
		})
	}
}
