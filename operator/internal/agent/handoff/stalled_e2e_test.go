//go:build e2e

package handoff_test

import (
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

// TestAnItemThatIsTooLargeForTheNewMemcachedIsNotCopied, because memcached may crash when it refuses such an item while
// it is watched.
func TestAnItemThatIsTooLargeForTheNewMemcachedIsNotCopied(t *testing.T) {
	const keys, large = 1000, 20
	old, next := start(t, "--max-item-size=8m"), start(t)
	fill(t, old, keys)
	c := connect(t, old)
	for n := range large {
		c.set(t, fmt.Sprintf("large-%d", n), strings.Repeat("x", 1<<20-50+n<<15), "T0")
	}
	c.set(t, "fits", strings.Repeat("x", 1<<20-200), "T0")
	r := run(t, dial(old), dial(next))
	r.copy(t)
	if got := held(t, next, keys); got != keys {
		t.Errorf("%d of %d keys", got, keys)
	}
	if got := r.Progress(); got.Keys != keys+1 || got.Skipped != large {
		t.Errorf("progress %+v", got)
	}
	r.finish(t, old)
}

// TestAKeyThatNoCommandCanNameIsLeftAlone: only the binary protocol can name such a key.
func TestAKeyThatNoCommandCanNameIsLeftAlone(t *testing.T) {
	const keys = 2000
	unnamed := strings.Repeat("a ", 100)
	old, next := outside(t, clienthash.Ketama, 2), newRing(t, clienthash.Rendezvous, 2)
	old.setAll(t, keys)
	storeBinary(t, old.servers[0], unnamed, "before")
	moving, hold := old.following(t, next)
	for _, server := range old.servers {
		storeBinary(t, server, unnamed, "while it follows")
	}
	close(hold)
	moving.copy(t)
	for _, server := range append(old.servers, next.servers...) {
		storeBinary(t, server, unnamed, "while clients use both")
	}
	follows(t, old, next)
	follows(t, next, old)
	if diff := cmp.Diff(old.held(t, keys, old), next.held(t, keys, old)); diff != "" {
		t.Errorf("keys (-old +new):\n%s", diff)
	}
	if got := moving.Progress(); got.Emptied != "" {
		t.Errorf("emptied: %s", got.Emptied)
	}
}

// TestAServerThatDoesNotAnswerKeepsNoOtherOutdated: if one server hangs, keys that may be outdated are still removed
// from the servers that answer.
func TestAServerThatDoesNotAnswerKeepsNoOtherOutdated(t *testing.T) {
	t.Parallel()
	const keys = 5000
	t.Run("when it begins again", func(t *testing.T) {
		old, next := outside(t, clienthash.Ketama, 2), newRing(t, clienthash.Rendezvous, 2)
		old.setAll(t, keys)
		next.setAll(t, keys)
		move, err := handoff.Import(old.asImported(), next.asImported())
		if err != nil {
			t.Fatal(err)
		}
		freeze(t, old.servers[0])
		launch(t, move, resume)
		const seconds = 20 * time.Second // An earlier version waited for a minute.
		gomega.NewWithT(t).Eventually(func() []int { return next.held(t, keys, next) }).WithTimeout(seconds).
			Should(gomega.Equal([]int{0, 0}))
	})
	t.Run("when it ends before clients use both", func(t *testing.T) {
		old, next := outside(t, clienthash.Ketama, 2), newRing(t, clienthash.Rendezvous, 2)
		old.setAll(t, keys)
		moving, _ := old.following(t, next)
		freeze(t, next.servers[0])
		moving.stop()
		gomega.NewWithT(t).Eventually(moving.result).WithTimeout(2 * time.Minute).Should(gomega.Receive())
		if items := statsOf(t, next.servers[1])["curr_items"]; items != "0" {
			t.Errorf("the server that answers has %s items left", items)
		}
	})
}

// TestAMemcachedThatStandsStillForSecondsKeepsItsKeys: this happens on a Node with too little memory or CPU time.
func TestAMemcachedThatStandsStillForSecondsKeepsItsKeys(t *testing.T) {
	const keys, still = 10_000, 5 * time.Second
	for name, isUsed := range map[string]bool{"during the copy": false, "while clients use both": true} {
		for _, which := range []string{"old", "new"} {
			t.Run(which+" "+name, func(t *testing.T) {
				t.Parallel()
				old, next := start(t), start(t)
				fill(t, old, keys)
				r := begin(t, dial(old), dial(next), under(func() handoff.Settings { return handoff.Settings{Rate: mib / 4} }))
				if isUsed {
					r.copy(t)
					r.use(t, next)
				}
				server := map[string]*memcachedtest.Server{"old": old, "new": next}[which]
				server.Signal(t, syscall.SIGSTOP)
				<-time.After(still)
				server.Signal(t, syscall.SIGCONT)
				r.copy(t)
				r.invalidates(t, func() { connect(t, next).set(t, "key-2", "newer", "T0") })
				r.invalidates(t, func() { connect(t, old).set(t, "key-3", "newer", "T0") })
				if got := held(t, next, keys); got < keys-1 {
					t.Errorf("%d of %d keys; %+v", got, keys, r.Progress())
				}
				r.finish(t, old)
			})
		}
	}
}

// freeze stops the process of a memcached until the test ends.
func freeze(t *testing.T, server *memcachedtest.Server) {
	t.Helper()
	server.Signal(t, syscall.SIGSTOP)
	t.Cleanup(func() { server.Signal(t, syscall.SIGCONT) })
}
