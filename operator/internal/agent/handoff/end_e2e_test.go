//go:build e2e

package handoff_test

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
)

// failed returns the failure of a handoff, without its error.
func failed(t *testing.T, err error) handoff.Failure {
	t.Helper()
	f, ok := errors.AsType[*handoff.Failure](err)
	if !ok {
		t.Fatalf("error %v", err)
	}
	t.Log(err)
	return handoff.Failure{Reason: f.Reason, AfterCopied: f.AfterCopied, NotEmptied: f.NotEmptied}
}

func TestTheOldMemcachedEndsWithoutAnAnnouncement(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGUSR1} {
		for sentence, used := range map[string]bool{
			"before a client used the new one": false,
			"after a client used the new one":  true,
		} {
			t.Run(signal.String()+" "+sentence, func(t *testing.T) {
				old, next := start(t), start(t)
				fill(t, old, 100)
				r := run(t, dial(old), dial(next))
				r.copy(t)
				if used {
					r.use(t, next)
				}
				old.Signal(t, signal)
				want := handoff.Failure{Reason: handoff.OldEnded, AfterCopied: used}
				if diff := cmp.Diff(want, failed(t, r.end(t))); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if got := held(t, next, 100); got != 0 {
					t.Errorf("the new memcached still holds %d keys", got)
				}
				if got := r.Progress().Emptied; got != handoff.OldEnded {
					t.Errorf("the progress says that it was emptied because of %q", got)
				}
			})
		}
	}
}

func TestAMemcachedThatCannotBeUsed(t *testing.T) {
	tests := map[string]struct {
		old, next []string
		want      handoff.Failure
	}{
		"the old one forbids dumps":      {[]string{"-X"}, nil, handoff.Failure{Reason: handoff.DumpForbidden}},
		"the old one forbids watching":   {[]string{"-W"}, nil, handoff.Failure{Reason: handoff.DumpForbidden}},
		"the new one forbids watching":   {nil, []string{"-W"}, handoff.Failure{Reason: handoff.DumpForbidden}},
		"the new one can not be emptied": {nil, []string{"-F"}, handoff.Failure{Reason: handoff.FlushForbidden, NotEmptied: true}},
		"the old one has no crawler":     {[]string{"--extended=no_lru_crawler"}, nil, handoff.Failure{Reason: handoff.DumpForbidden}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			old, next := start(t, tc.old...), start(t, tc.next...)
			fill(t, old, 100)
			r := run(t, dial(old), dial(next))
			if diff := cmp.Diff(tc.want, failed(t, r.end(t))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAMemcachedThatEndsBeforeAllIsCopied(t *testing.T) {
	old, next := start(t), start(t)
	fill(t, old, 100000)
	r := run(t, dial(old), dial(next))
	gomega.NewWithT(t).Eventually(func() int64 { return r.Progress().Keys }).WithTimeout(2 * time.Minute).
		WithPolling(time.Millisecond).Should(gomega.BeNumerically(">", 1000))
	old.Signal(t, syscall.SIGKILL)
	got := failed(t, r.end(t))
	if got.AfterCopied || got.NotEmptied || got.Reason != handoff.OldEnded && got.Reason != handoff.OldUnreachable {
		t.Errorf("failure %+v", got)
	}
	if got := held(t, next, 100000); got != 0 {
		t.Errorf("the new memcached still holds %d keys", got)
	}
}

// TestWhatWasSentBeforeAFailureDoesNotOutliveIt uses a busy memcached: it executes some commands only after it was
// emptied, although the agent sent them before.
func TestWhatWasSentBeforeAFailureDoesNotOutliveIt(t *testing.T) {
	t.Parallel()
	old, next := start(t), start(t)
	fill(t, old, 20000)
	r := run(t, dial(old), through(t, next, 300*time.Millisecond))
	g := gomega.NewWithT(t)
	g.Eventually(func() int64 { return r.Progress().Keys }).WithTimeout(2 * time.Minute).
		WithPolling(time.Millisecond).Should(gomega.BeNumerically(">", 0))
	old.Signal(t, syscall.SIGKILL)
	if got := failed(t, r.end(t)); got.AfterCopied || got.NotEmptied {
		t.Errorf("failure %+v", got)
	}
	g.Consistently(func() int { return held(t, next, 20000) }).WithTimeout(time.Second).Should(gomega.BeZero())
}

// TestTheOldMemcachedKeepsItsKeysUntilTheNewOneIsUsed ends the new memcached after all keys are copied. This happens,
// for example, if a rollback deletes the new Pod.
func TestTheOldMemcachedKeepsItsKeysUntilTheNewOneIsUsed(t *testing.T) {
	for sentence, used := range map[string]bool{
		"no client used the new one":           false,
		"a client stored a key in the new one": true,
	} {
		t.Run(sentence, func(t *testing.T) {
			old, next := start(t), start(t)
			fill(t, old, 1000)
			r := run(t, dial(old), dial(next))
			r.copy(t)
			want := 1000
			if used {
				r.use(t, next)
				want = 0
			}
			next.Signal(t, syscall.SIGKILL)
			if got := failed(t, r.end(t)); got.AfterCopied != used {
				t.Errorf("failure %+v", got)
			}
			if got := held(t, old, 1000); got != want {
				t.Errorf("the old memcached holds %d keys, want %d", got, want)
			}
		})
	}
}

func TestAnOldMemcachedThatDoesNotExist(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	r := run(t, handoff.Server{Address: listener.Addr().String()}.Dial, dial(start(t)))
	if diff := cmp.Diff(handoff.Failure{Reason: handoff.OldUnreachable}, failed(t, r.end(t))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAHandoffEndsWithItsContext(t *testing.T) {
	r := run(t, dial(start(t)), dial(start(t)))
	r.copy(t)
	r.stop()
	if err := r.end(t); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestAResumedHandoffBeginsWithTwoEmptyMemcacheds(t *testing.T) {
	old, next := start(t), start(t)
	fill(t, old, 100)
	fill(t, next, 100)
	r := begin(t, dial(old), dial(next), resume)
	g := gomega.NewWithT(t)
	g.Eventually(func() int { return held(t, old, 100) + held(t, next, 100) }).WithTimeout(2 * time.Minute).Should(gomega.BeZero())
	awaitInvalidation(t, connect(t, old), connect(t, next))
	awaitInvalidation(t, connect(t, next), connect(t, old))
	r.finish(t, old)
	if got := r.Progress().Emptied; got != handoff.AgentRestarted {
		t.Errorf("the progress says that they were emptied because of %q", got)
	}
}

func resume(ctx context.Context, h *handoff.Handoff) error {
	return h.Resume(ctx, handoff.AgentRestarted)
}

// awaitInvalidation stores a key in one memcached and waits until it has been removed from the other.
func awaitInvalidation(t *testing.T, here, there *client) {
	t.Helper()
	awaitInvalidationOf(t, "shared", here, there)
}

func awaitInvalidationOf(t *testing.T, key string, here, there *client) {
	t.Helper()
	gomega.NewWithT(t).Eventually(func() string {
		there.set(t, key, "old", "T0")
		here.set(t, key, "new", "T0")
		for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); {
			if answer, _, err := there.get(key, ""); err != nil || answer == "EN" {
				return answer
			}
		}
		return "not removed"
	}).WithTimeout(2*time.Minute).Should(gomega.Equal("EN"), key)
}

func TestAFlushEmptiesTheOtherMemcachedToo(t *testing.T) {
	old, next := start(t), start(t)
	fill(t, old, 100)
	r := run(t, dial(old), dial(next))
	r.copy(t)
	connect(t, old).want(t, "flush_all", "OK")
	gomega.NewWithT(t).Eventually(func() int { return held(t, next, 100) }).WithTimeout(2 * time.Minute).Should(gomega.BeZero())
	fill(t, old, 10)
	connect(t, next).want(t, "flush_all", "OK")
	gomega.NewWithT(t).Eventually(func() int { return held(t, old, 10) }).WithTimeout(2 * time.Minute).Should(gomega.BeZero())
	r.finish(t, old)
}
