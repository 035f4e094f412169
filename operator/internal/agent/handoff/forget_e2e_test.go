//go:build e2e

package handoff_test

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

// held returns a count for each server of the other list: how many keys of setAll the servers of this list have that
// clients with the other list look for at that server. held lists the keys instead of reading them: memcached could not
// log all reads if the agent gets little CPU time.
func (r *ring) held(t *testing.T, keys int, other *ring) []int {
	t.Helper()
	held := make([]int, len(other.servers))
	for server, c := range r.clients {
		for _, key := range c.list(t) {
			var n int
			_, err := fmt.Sscanf(key, "key-%d", &n)
			if err == nil && n < keys && r.choose[len(r.servers)]([]byte(key)) == server {
				held[other.choose[len(other.servers)]([]byte(key))]++
			}
		}
	}
	return held
}

// list returns the keys that memcached has. They must not contain characters that memcached escapes.
func (c *client) list(t *testing.T) (keys []string) {
	t.Helper()
	line, err := c.ask("lru_crawler metadump hash")
	for ; strings.HasPrefix(line, "BUSY"); line, err = c.ask("lru_crawler metadump hash") {
		<-time.After(10 * time.Millisecond)
	}
	for ; err == nil && !strings.HasPrefix(line, "END"); line, err = c.reader.ReadString('\n') {
		if dumped, found := strings.CutPrefix(line, "key="); found {
			key, _, _ := strings.Cut(dumped, " ")
			keys = append(keys, key)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// follows changes keys in the servers of one list, and waits until they are removed from the servers of the other list.
// It does so for each pair of servers.
func follows(t *testing.T, one, other *ring) {
	t.Helper()
	for n := range 50 {
		key := fmt.Sprintf("follows-%d", n)
		awaitInvalidationOf(t, key, one.at(len(one.servers), key), other.at(len(other.servers), key))
	}
}

// movedIn returns servers outside of a cache, and a cache into which their keys were copied. Clients use both.
func movedIn(t *testing.T, keys int) (old, next *ring, moving *running) {
	t.Helper()
	old, next = outside(t, clienthash.Ketama, 2), newRing(t, clienthash.Rendezvous, 2)
	old.setAll(t, keys)
	moving = old.moveTo(t, next, nil)
	moving.copy(t)
	moving.invalidates(t, func() { next.set(t, "used", "x") })
	return old, next, moving
}

// TestWhatClientsChangedIsNotKnown checks that, if changes in one server outside of the cache are unknown, the cache
// loses the keys that it shares with this server, and no others.
func TestWhatClientsChangedIsNotKnown(t *testing.T) {
	t.Parallel()
	const keys = 2000
	for name, tc := range map[string]struct {
		change func(t *testing.T, old *memcachedtest.Server)
		reason string
		kept   bool // the server keeps its keys
	}{
		"a burst is more than its log can take": {burst, handoff.LogLinesLost, true},
		"a client empties it": {
			func(t *testing.T, old *memcachedtest.Server) { connect(t, old).want(t, "flush_all", "OK") }, handoff.Flushed, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, next, moving := movedIn(t, keys)
			before := old.held(t, keys, old)
			g := gomega.NewWithT(t)
			for moving.Progress().Emptied == "" {
				tc.change(t, old.servers[0])
				<-time.After(300 * time.Millisecond) // In this time, a beat notices the change.
			}
			if got := moving.Progress().Emptied; got != tc.reason {
				t.Errorf("emptied: %q, want %q", got, tc.reason)
			}
			want := before
			if !tc.kept {
				want = []int{0, before[1]}
			}
			g.Consistently(func() []int { return old.held(t, keys, old) }).WithTimeout(time.Second).Should(gomega.Equal(want))
			// The servers are checked first: if a client misses a key in the cache, the key may have been deleted there, so the
			// agent removes it from the server.
			g.Eventually(func() []int { return next.held(t, keys, old) }).WithTimeout(2*time.Minute).
				Should(gomega.Equal([]int{0, before[1]}), "in the cache")
			follows(t, old, next)
			follows(t, next, old)
			g.Expect(moving.result).NotTo(gomega.Receive())
		})
	}
}

// burst makes more changes than the log of a memcached with its own defaults can hold.
func burst(t *testing.T, server *memcachedtest.Server) {
	t.Helper()
	c := connect(t, server)
	commands := strings.Repeat("ms burst 1 q\r\nx\r\n", 20_000) + "mn"
	c.want(t, commands, "MN")
}

// TestASlotStartsAgain restarts a slot after all keys are copied: its keys are removed from both lists, and no key of
// another slot is. The servers from which they are removed run with memcached's own defaults, so their logs could not
// hold the lines of all removals together.
func TestASlotStartsAgain(t *testing.T) {
	const keys = 40_000
	old, next, moving := movedIn(t, keys)
	before := old.held(t, keys, next)
	next.servers[0].Signal(t, syscall.SIGKILL)
	<-next.servers[0].Ended()
	inOther := "other"
	for n := 0; next.choose[2]([]byte(inOther)) == 0; n++ {
		inOther = fmt.Sprintf("other-%d", n)
	}
	next.set(t, inOther, "by a client of the cache")
	old.set(t, inOther, "newer")
	next.isMissing(t, 2, inOther)
	<-time.After(2 * time.Second) // The agent tries in vain to connect.

	memcachedtest.StartAt(t, next.servers[0].Address, logBuffers)
	next.clients[0] = connect(t, next.servers[0])
	for n := range keys {
		key := fmt.Sprintf("key-%d", n)
		if next.choose[2]([]byte(key)) == 0 {
			next.set(t, key, "before it is watched again")
			break
		}
	}
	g := gomega.NewWithT(t)
	want := []int{0, before[1]}
	g.Eventually(func() []int { return old.held(t, keys, next) }).WithTimeout(2 * time.Minute).Should(gomega.Equal(want))
	g.Eventually(func() []int { return next.held(t, keys, next) }).WithTimeout(2 * time.Minute).Should(gomega.Equal(want))
	follows(t, old, next)
	follows(t, next, old)
	g.Expect(moving.result).NotTo(gomega.Receive())
	for n, server := range old.servers {
		stats := statsOf(t, server)
		for _, lost := range []string{"log_worker_dropped", "log_watcher_skipped"} {
			if stats[lost] != "0" {
				t.Errorf("old server %d: %s is %s", n, lost, stats[lost])
			}
		}
	}
}

func statsOf(t *testing.T, server *memcachedtest.Server) map[string]string {
	t.Helper()
	stats, err := protocol.New(connect(t, server).connection).Stats(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// TestAResumedImportIsConsistentOnceItSaysSo resumes an import while a slot is down. The slot starts later.
func TestAResumedImportIsConsistentOnceItSaysSo(t *testing.T) {
	t.Parallel()
	const keys = 40_000
	old, next := outside(t, clienthash.Ketama, 2), newRing(t, clienthash.Rendezvous, 2)
	old.setAll(t, keys)
	next.setAll(t, keys)
	next.servers[0].Signal(t, syscall.SIGKILL)
	<-next.servers[0].Ended()
	move, err := handoff.Import(old.asImported(), next.asImported())
	if err != nil {
		t.Fatal(err)
	}
	moving := launch(t, move, resume)
	<-time.After(2 * time.Second)
	memcachedtest.StartAt(t, next.servers[0].Address, logBuffers)
	next.clients[0] = connect(t, next.servers[0])
	moving.copy(t)
	for name, r := range map[string]*ring{"old": old, "next": next} {
		if diff := cmp.Diff([]int{0, 0}, r.held(t, keys, next)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	follows(t, old, next)
	follows(t, next, old)
}

// TestAServerOfTheCacheIsNotCopied tries to copy a server of the cache that has another name in the list. The agent
// must refuse this, because it would first remove the keys of this server.
func TestAServerOfTheCacheIsNotCopied(t *testing.T) {
	const keys = 100
	next := newRing(t, clienthash.Ketama, 2)
	next.setAll(t, keys)
	old := ringOf(t, clienthash.Ketama, []*memcachedtest.Server{memcachedtest.Start(t), next.servers[1]})
	failure := failed(t, old.moveTo(t, next, nil).end(t))
	if diff := cmp.Diff(handoff.Failure{Reason: handoff.SameServer}, failure); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := next.found(t, 2, keys); got != keys {
		t.Errorf("it has %d of %d keys left", got, keys)
	}
	items := 0
	for _, server := range next.servers {
		count, err := strconv.Atoi(statsOf(t, server)["curr_items"])
		if err != nil {
			t.Fatal(err)
		}
		items += count
	}
	if items != keys {
		t.Errorf("the servers hold %d items, want %d: the keys of the comparison stay", items, keys)
	}
}

// following copies the keys to another list, and follows the changes until hold is closed.
func (r *ring) following(t *testing.T, next *ring) (moving *running, hold chan struct{}) {
	t.Helper()
	followed, hold := make(chan struct{}), make(chan struct{})
	moving = r.moveTo(t, next, func(h *handoff.Handoff) {
		h.Hold, h.Followed = hold, func() { close(followed) }
	})
	gomega.NewWithT(t).Eventually(followed).WithTimeout(2 * time.Minute).Should(gomega.BeClosed())
	return moving, hold
}

// TestOneAgentFillsACacheAtATime: another agent, such as one on a lost Node, would take the changes by the first one
// for changes by clients.
func TestOneAgentFillsACacheAtATime(t *testing.T) {
	t.Parallel()
	const keys = 1000
	old, next := outside(t, clienthash.Ketama, 2), newRing(t, clienthash.Rendezvous, 2)
	old.setAll(t, keys)
	first, _ := old.following(t, next)
	want := handoff.Failure{Reason: handoff.OtherAgent}
	if diff := cmp.Diff(want, failed(t, old.moveTo(t, next, nil).end(t))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	back := outside(t, clienthash.Ketama, 2)
	if diff := cmp.Diff(want, failed(t, next.moveTo(t, old, nil).end(t))); diff != "" {
		t.Errorf("two caches that are filled from each other (-want +got):\n%s", diff)
	}
	another := old.moveTo(t, back, nil)
	another.copy(t)
	for name, r := range map[string]*ring{"old": old, "next": next, "another cache with the same keys": back} {
		if got := r.found(t, 2, keys); got != keys {
			t.Errorf("%s has %d of %d keys", name, got, keys)
		}
	}
	another.stop()
	_ = another.end(t)
	first.stop()
	_ = first.end(t)
	again := old.moveTo(t, next, nil)
	again.copy(t)
	if got := next.found(t, 2, keys); got != keys {
		t.Errorf("once the first has ended, there are %d of %d keys", got, keys)
	}
}
