package controller

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/pace"
)

func TestTheOperatorPausesWhenAnotherClientOverwritesTheStatus(t *testing.T) {
	now := time.Unix(0, 0)
	s := newStatuses()
	s.now = func() time.Time { return now }
	reporting := func(ready int32) *cachev1.Memcached {
		mc := &cachev1.Memcached{Status: cachev1.MemcachedStatus{ReadyReplicas: ready}}
		mc.UID = "cache"
		return mc
	}
	own, overwritten := reporting(1), reporting(9)

	for range 3 * statusLimit { // Pods change: the current status is always the one that was last written.
		s.note(own, reporting(2))
		s.note(reporting(2), own)
	}
	if wait := s.wait(own, cachev1.MemcachedStatus{}); wait != 0 {
		t.Fatalf("a status that only we write waits for %s", wait)
	}
	for range statusLimit {
		if wait := s.wait(overwritten, cachev1.MemcachedStatus{}); wait != 0 {
			t.Fatalf("left alone for %s before its time", wait)
		}
		s.note(overwritten, own)
		now = now.Add(time.Minute)
	}
	if got, want := s.wait(overwritten, cachev1.MemcachedStatus{}), 9*time.Minute; got != want {
		t.Errorf("left alone for %s, want %s", got, want)
	}
	changed := overwritten.DeepCopy()
	changed.Generation++
	if wait := s.wait(changed, cachev1.MemcachedStatus{}); wait != 0 {
		t.Errorf("the first status of a changed spec waits for %s", wait)
	}
	if wait := s.wait(own, cachev1.MemcachedStatus{}); wait != 0 {
		t.Errorf("its own status is still there, and the next one waits for %s", wait)
	}
	other := reporting(9)
	other.UID = "other"
	if wait := s.wait(other, cachev1.MemcachedStatus{}); wait != 0 {
		t.Errorf("that of another Memcached waits for %s", wait)
	}
	now = now.Add(pace.Longest)
	if wait := s.wait(overwritten, cachev1.MemcachedStatus{}); wait != 0 {
		t.Errorf("it waits for %s after the pause", wait)
	}
}

func TestDuringAConflictNotEachChangeOfPodsIsWritten(t *testing.T) {
	now := time.Unix(0, 0)
	s := newStatuses()
	s.now = func() time.Time { return now }
	conflicting := &cachev1.Memcached{Status: cachev1.MemcachedStatus{Conditions: []metav1.Condition{
		{Type: cachev1.ConditionReady, Reason: cachev1.ReasonFieldManagerConflict, Message: "by one"},
	}}}
	s.note(&cachev1.Memcached{}, conflicting)
	now = now.Add(time.Second)
	more := conflicting.DeepCopy().Status
	more.ReadyReplicas = 9
	if got, want := s.wait(conflicting, more), pace.Shortest-time.Second; got != want {
		t.Errorf("another count waits for %s, want %s", got, want)
	}
	news := conflicting.DeepCopy().Status
	news.Conditions[0].Message = "by another"
	if wait := s.wait(conflicting, news); wait != 0 {
		t.Errorf("another message waits for %s", wait)
	}
	ready := conflicting.DeepCopy()
	ready.Status.Conditions[0].Reason = cachev1.ReasonPodsNotReady
	s.note(conflicting, ready)
	if wait := s.wait(ready, ready.Status); wait != 0 {
		t.Errorf("without a conflict it waits for %s", wait)
	}
}

func TestStatusesThatAreOldAreForgotten(t *testing.T) {
	now := time.Unix(0, 0)
	s := newStatuses()
	s.now = func() time.Time { return now }
	first, second := &cachev1.Memcached{}, &cachev1.Memcached{}
	first.UID, second.UID = "first", "second"
	s.note(first, first)
	now = now.Add(2 * pace.Longest)
	s.note(second, second)
	if _, known := s.written["first"]; known || len(s.written) != 1 {
		t.Errorf("remembers %d statuses", len(s.written))
	}
}

func TestAChangeOfFewPodsOfManyIsWrittenAfterAPause(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := newStatuses()
	s.now = func() time.Time { return now }
	began := now
	rolling := func(ready int32, reason string) *cachev1.Memcached {
		mc := &cachev1.Memcached{Status: cachev1.MemcachedStatus{Replicas: 100, ReadyReplicas: ready, Conditions: []metav1.Condition{{
			Type: cachev1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, LastTransitionTime: metav1.NewTime(began),
		}}}}
		mc.UID = "cache"
		return mc
	}
	there, next := rolling(10, cachev1.ReasonRollingOut), rolling(11, cachev1.ReasonRollingOut)
	if wait := s.wait(there, next.Status); wait != 0 {
		t.Errorf("an operator that was just started waits for %s", wait)
	}
	for after, want := range map[time.Duration]time.Duration{
		0: 2 * time.Second, time.Minute: time.Minute, time.Hour: 5 * time.Minute,
	} {
		now = began.Add(after)
		s.note(there, there)
		if wait := s.wait(there, next.Status); wait != want {
			t.Errorf("%s after the beginning it waits for %s, want %s", after, wait, want)
		}
		now = now.Add(want)
		if wait := s.wait(there, next.Status); wait != 0 {
			t.Errorf("after the pause it waits for %s more", wait)
		}
		now = now.Add(-want)
		if wait := s.wait(there, rolling(30, cachev1.ReasonRollingOut).Status); wait != 2*time.Second {
			t.Errorf("a change of a fifth of the Pods waits for %s", wait)
		}
		if wait := s.wait(there, rolling(11, cachev1.ReasonPodsNotReady).Status); wait != 0 {
			t.Errorf("another reason waits for %s", wait)
		}
	}
}
