//go:build e2e

package handoff_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
)

// outside returns a list of memcacheds that are no Pods of a cache, but run with memcached's own defaults.
func outside(t *testing.T, algorithm clienthash.Algorithm, count int) *ring {
	t.Helper()
	var servers []*memcachedtest.Server
	for range count {
		servers = append(servers, memcachedtest.Start(t, "--memory-limit=4096"))
	}
	return ringOf(t, algorithm, servers)
}

func (r *ring) asImported() handoff.Ring {
	ring := handoff.Ring{Hash: r.algorithm, Names: r.names}
	for _, server := range r.servers {
		ring.Dials = append(ring.Dials, dial(server))
	}
	return ring
}

// moveTo begins to copy all keys to another list of servers.
func (r *ring) moveTo(t *testing.T, next *ring, change func(*handoff.Handoff)) *running {
	t.Helper()
	move, err := handoff.Import(r.asImported(), next.asImported())
	if err != nil {
		t.Fatal(err)
	}
	return launch(t, move, func(ctx context.Context, h *handoff.Handoff) error {
		h.Settings.Rate = r.rate
		if change != nil {
			change(h)
		}
		return h.Run(ctx)
	})
}

// setAll stores the keys that found counts.
func (r *ring) setAll(t *testing.T, keys int) {
	t.Helper()
	for n := range keys {
		key := fmt.Sprintf("key-%d", n)
		r.at(len(r.servers), key).set(t, key, "value of "+key, "T0")
	}
}

func (r *ring) set(t *testing.T, key, value string) {
	t.Helper()
	r.at(len(r.servers), key).set(t, key, value, "T0")
}

func (r *ring) eventually(t *testing.T, key, want string) {
	t.Helper()
	gomega.NewWithT(t).Eventually(func() (string, error) {
		_, value, err := r.at(len(r.servers), key).get(key, "")
		return value, err
	}).WithTimeout(2*time.Minute).Should(gomega.Equal(want), key)
}

// TestWhatChangesFollowsUntilTheHoldEnds: until Hold is closed, changed keys are copied again. A client already reads
// from the new servers, and its misses there remove no key.
func TestWhatChangesFollowsUntilTheHoldEnds(t *testing.T) {
	t.Parallel()
	const keys = 5000
	old, next := outside(t, clienthash.Ketama, 3), newRing(t, clienthash.Rendezvous, 2)
	old.setAll(t, keys)
	old.set(t, "deleted", "x")
	hold, followed := make(chan struct{}), make(chan struct{})
	moving := old.moveTo(t, next, func(h *handoff.Handoff) {
		h.Hold, h.Followed = hold, func() { close(followed) }
	})
	g := gomega.NewWithT(t)
	g.Eventually(followed).WithTimeout(2 * time.Minute).Should(gomega.BeClosed())
	if got := next.found(t, 2, keys); got != keys {
		t.Errorf("the new servers have %d of %d keys", got, keys)
	}
	for n := range 20 {
		old.set(t, fmt.Sprintf("later-%d", n), "first")
		old.set(t, fmt.Sprintf("later-%d", n), "second")
	}
	old.at(3, "deleted").want(t, "delete deleted", "DELETED")
	for n := range 20 {
		next.eventually(t, fmt.Sprintf("later-%d", n), "second")
	}
	next.eventually(t, "deleted", "")
	g.Consistently(moving.copied).WithTimeout(200 * time.Millisecond).ShouldNot(gomega.BeClosed())
	close(hold)
	moving.copy(t)
	for n := range 20 {
		next.eventually(t, fmt.Sprintf("later-%d", n), "second")
	}
	if got := next.found(t, 2, keys); got != keys {
		t.Errorf("after the copy, the new servers have %d of %d keys", got, keys)
	}
	next.set(t, "later-1", "third")
	old.isMissing(t, 3, "later-1")
	old.set(t, "later-2", "third")
	next.isMissing(t, 2, "later-2")
}

// TestAServerOutsideOfTheCacheEnds ends a server after all keys were copied: the keys of this server are lost only if
// clients changed some of them just before.
func TestAServerOutsideOfTheCacheEnds(t *testing.T) {
	t.Parallel()
	const keys = 3000
	for name, tc := range map[string]struct {
		isUsed bool
		kept   func(of int) bool
	}{
		"while no client changes anything there": {false, func(int) bool { return true }},
		"while clients change keys":              {true, func(of int) bool { return of != 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, next := outside(t, clienthash.Ketama, 3), newRing(t, clienthash.Rendezvous, 2)
			old.setAll(t, keys)
			moving := old.moveTo(t, next, nil)
			moving.copy(t)
			g := gomega.NewWithT(t)
			for began := time.Now(); time.Since(began) < 11*time.Second; { // This is longer than quiet.
				next.set(t, "used", "x") // by clients of the new list only
				if tc.isUsed {
					old.clients[0].set(t, "changing", "x", "T0")
				}
				<-time.After(100 * time.Millisecond)
			}
			old.servers[0].Signal(t, syscall.SIGKILL)
			kept := func() (ok bool) {
				ok = true
				for n := range keys {
					key := fmt.Sprintf("key-%d", n)
					answer, _, err := next.at(2, key).get(key, "")
					if err != nil {
						t.Fatal(err)
					}
					ok = ok && strings.HasPrefix(answer, "VA") == tc.kept(old.choose[3]([]byte(key)))
				}
				return ok
			}
			g.Eventually(kept).WithTimeout(2 * time.Minute).Should(gomega.BeTrue())
			g.Consistently(kept).WithTimeout(time.Second).Should(gomega.BeTrue())
			key := "later"
			for n := 0; old.choose[3]([]byte(key)) == 0; n++ {
				key = fmt.Sprintf("later-%d", n)
			}
			old.set(t, key, "x")
			next.set(t, key, "y")
			old.isMissing(t, 3, key) // The other servers are still kept consistent.
			if got := moving.Progress().Emptied == handoff.OldEnded; got != tc.isUsed {
				t.Errorf("%+v", moving.Progress())
			}
			old.servers[1].Signal(t, syscall.SIGKILL)
			old.servers[2].Signal(t, syscall.SIGKILL)
			g.Consistently(moving.result).WithTimeout(8 * time.Second).ShouldNot(gomega.Receive()) // longer than lastWords
		})
	}
}

// TestAServerThatStartsAgainBeginsAgain: the agent does not know what clients changed there before it watches the
// server again.
func TestAServerThatStartsAgainBeginsAgain(t *testing.T) {
	t.Parallel()
	old, next := outside(t, clienthash.Ketama, 2), newRing(t, clienthash.Ketama, 1)
	key := movingKey(old, 1, 2) // on the second server
	moving := old.moveTo(t, next, nil)
	moving.copy(t)
	moving.use(t, next.servers[0])
	old.servers[1].Signal(t, syscall.SIGKILL)
	<-old.servers[1].Ended()
	next.set(t, key, "by a client of the new list")
	again := memcachedtest.StartAt(t, old.servers[1].Address)
	next.isMissing(t, 1, key)
	old.clients[1] = connect(t, again)
	old.set(t, key, "by a client of the former list")
	next.set(t, key, "newer")
	old.isMissing(t, 2, key)
}

// TestAnUnfinishedImportLeavesNothing: the keys that were copied are removed, because no agent would follow the changes
// by clients.
func TestAnUnfinishedImportLeavesNothing(t *testing.T) {
	t.Parallel()
	old, next := outside(t, clienthash.Ketama, 2), newRing(t, clienthash.Ketama, 1)
	old.setAll(t, 1000)
	followed := make(chan struct{})
	moving := old.moveTo(t, next, func(h *handoff.Handoff) {
		h.Hold, h.Followed = make(chan struct{}), func() { close(followed) }
	})
	gomega.NewWithT(t).Eventually(followed).WithTimeout(2 * time.Minute).Should(gomega.BeClosed())
	moving.stop()
	_ = moving.end(t)
	if got := next.found(t, 1, 1000); got != 0 {
		t.Errorf("the new server still has %d keys", got)
	}
	if got := old.found(t, 2, 1000); got != 1000 {
		t.Errorf("the old servers have %d of 1000 keys", got)
	}
}

// TestAnImportThatCannotBegin checks that the error names the server.
func TestAnImportThatCannotBegin(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(t *testing.T, old *ring)
		want   string
	}{
		"a server forbids dumps": {
			func(t *testing.T, old *ring) { old.servers[1] = memcachedtest.Start(t, "-X") },
			"DumpForbidden: shop-1.shop-slots.team.svc:11211: ",
		},
		"a server does not run": {
			func(t *testing.T, old *ring) {
				old.servers[2].Signal(t, syscall.SIGKILL)
				<-old.servers[2].Ended()
			},
			"OldUnreachable: shop-2.shop-slots.team.svc:11211: cannot reach memcached: ",
		},
		"the servers are in another order": {
			func(_ *testing.T, old *ring) {
				old.servers[0], old.servers[1], old.servers[2] = old.servers[1], old.servers[2], old.servers[0]
			},
			"OtherHash: 2000 of 2000 keys are at another server than clientHash says",
		},
	} {
		t.Run(name, func(t *testing.T) {
			old, next := outside(t, clienthash.Ketama, 3), newRing(t, clienthash.Rendezvous, 2)
			old.setAll(t, 2000)
			tc.change(t, old)
			err := old.moveTo(t, next, nil).end(t)
			if diff := cmp.Diff(tc.want, fmt.Sprintf("%.*s", len(tc.want), fmt.Sprint(err))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := next.found(t, 2, 2000); got != 0 {
				t.Errorf("the new servers still have %d keys", got)
			}
		})
	}
}
