//go:build e2e

package handoff_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
)

// ring is a list of servers, with clients that choose a server by a hash.
type ring struct {
	algorithm clienthash.Algorithm

	servers []*memcachedtest.Server
	names   []string
	clients []*client
	choose  []clienthash.Chooser // by the length of the list
	rate    int64                // of a copy, in bytes per second
}

func newRing(t *testing.T, algorithm clienthash.Algorithm, count int) *ring {
	t.Helper()
	var servers []*memcachedtest.Server
	for range count {
		servers = append(servers, start(t))
	}
	return ringOf(t, algorithm, servers)
}

func ringOf(t *testing.T, algorithm clienthash.Algorithm, servers []*memcachedtest.Server) *ring {
	t.Helper()
	r := &ring{algorithm: algorithm, servers: servers, choose: []clienthash.Chooser{nil}}
	for n, server := range servers {
		r.clients = append(r.clients, connect(t, server))
		r.names = append(r.names, fmt.Sprintf("shop-%d.shop-slots.team.svc:11211", n))
		choose, err := clienthash.New(algorithm, r.names)
		if err != nil {
			t.Fatal(err)
		}
		r.choose = append(r.choose, choose)
	}
	return r
}

// connected returns the same list of servers with its own connections.
func (r *ring) connected(t *testing.T) *ring {
	t.Helper()
	own := *r
	own.clients = nil
	for _, server := range r.servers {
		own.clients = append(own.clients, connect(t, server))
	}
	return &own
}

// at returns the connection to the server that has a key, for a client with a list of this number of servers.
func (r *ring) at(length int, key string) *client { return r.clients[r.choose[length]([]byte(key))] }

// found counts the keys that a client with a list of this number of servers finds, and fails the test at a wrong value.
func (r *ring) found(t *testing.T, length, keys int) int {
	t.Helper()
	return found(t, r.chooser(length), keys)
}

func found(t *testing.T, choose chooser, keys int) int {
	t.Helper()
	found := 0
	for n := range keys {
		key := fmt.Sprintf("key-%d", n)
		answer, value, err := choose(key).get(key, "")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(answer, "VA") {
			continue
		}
		if found++; value != "value of "+key {
			t.Errorf("%s is %q", key, value)
		}
	}
	return found
}

func (r *ring) move(t *testing.T, algorithm clienthash.Algorithm, before, after int) *running {
	t.Helper()
	longer := max(before, after)
	var dials []handoff.Dial
	for _, server := range r.servers[:longer] {
		dials = append(dials, dial(server))
	}
	move, err := handoff.Relist(algorithm, r.names[:longer], dials, before, after)
	if err != nil {
		t.Fatal(err)
	}
	return launch(t, move, func(ctx context.Context, h *handoff.Handoff) error {
		h.Settings.Rate = r.rate
		return h.Run(ctx)
	})
}

func TestClientsOfAListOfAnotherLengthFindAllKeys(t *testing.T) {
	const keys = 5000
	for _, algorithm := range clienthash.Algorithms {
		for _, lengths := range [][2]int{{3, 4}, {4, 3}, {1, 2}, {2, 1}} {
			t.Run(fmt.Sprintf("%s from %d to %d", algorithm, lengths[0], lengths[1]), func(t *testing.T) {
				t.Parallel()
				before, after := lengths[0], lengths[1]
				r := newRing(t, algorithm, max(before, after))
				for n := range keys {
					key := fmt.Sprintf("key-%d", n)
					r.at(before, key).set(t, key, "value of "+key, "T0")
				}
				moving := r.move(t, algorithm, before, after)
				moving.copy(t)
				if found := r.found(t, after, keys); found != keys {
					t.Errorf("a client of the new list finds %d of %d keys", found, keys)
				}
				if found := r.found(t, before, keys); found != keys {
					t.Errorf("a client of the former list finds %d of %d keys", found, keys)
				}
				t.Logf("%+v", moving.Progress())
			})
		}
	}
}

// TestAChangeByEitherListIsSeenByTheOther: until the move ends, clients of both lists write. No client reads a value
// that a client of the other list has overwritten or deleted.
func TestAChangeByEitherListIsSeenByTheOther(t *testing.T) {
	for _, algorithm := range clienthash.Algorithms {
		t.Run(string(algorithm), func(t *testing.T) {
			r := newRing(t, algorithm, 4)
			key := movingKey(r, 3, 4)
			r.at(3, key).set(t, key, "first", "T0")
			moving := r.move(t, algorithm, 3, 4)
			moving.copy(t)
			r.at(4, key).set(t, key, "later", "T0")
			r.isMissing(t, 3, key)
			r.at(3, key).set(t, key, "again", "T0")
			r.isMissing(t, 4, key)
		})
	}
}

// movingKey returns a key whose server changes.
func movingKey(r *ring, before, after int) string {
	for n := 0; ; n++ {
		if key := fmt.Sprintf("moving-%d", n); r.at(before, key) != r.at(after, key) {
			return key
		}
	}
}

func (r *ring) isMissing(t *testing.T, length int, key string) {
	t.Helper()
	gomega.NewWithT(t).Eventually(func() string {
		answer, _, err := r.at(length, key).get(key, "")
		if err != nil {
			return err.Error()
		}
		return answer
	}).WithTimeout(2*time.Minute).Should(gomega.Equal("EN"), "a client with %d servers", length)
}

// TestALeftoverOfAnEarlierListDoesNotReturn: a key had moved to another server and was deleted there, but is still at
// its former server, to which it moves back.
func TestALeftoverOfAnEarlierListDoesNotReturn(t *testing.T) {
	r := newRing(t, clienthash.Ketama, 4)
	key := movingKey(r, 4, 3)
	r.at(3, key).set(t, key, "outdated", "T0")
	r.move(t, clienthash.Ketama, 4, 3).copy(t)
	r.isMissing(t, 3, key)
}

func TestClientsWithAnotherHashEndTheMove(t *testing.T) {
	r := newRing(t, clienthash.Ketama, 3)
	for n := range 3000 {
		key := fmt.Sprintf("key-%d", n)
		r.clients[n%2].set(t, key, strings.Repeat("x", 1000), "T0")
	}
	r.rate = 100 << 10
	moving := r.move(t, clienthash.Ketama, 2, 3)
	for n := 0; len(moving.result) == 0; n++ { // The test's timeout ends it.
		r.clients[n%2].set(t, fmt.Sprintf("key-%d", n%3000), "x", "T0")
	}
	if err := moving.end(t); err == nil || !strings.Contains(err.Error(), handoff.OtherHash) {
		t.Errorf("the move ended with %v", err)
	}
}

// TestTheEndOfAServerEndsTheMoveWithoutOutdatedKeys: the copied keys are removed from each server that can be reached.
func TestTheEndOfAServerEndsTheMoveWithoutOutdatedKeys(t *testing.T) {
	const keys = 2000
	r := newRing(t, clienthash.Rendezvous, 3)
	for n := range keys {
		key := fmt.Sprintf("key-%d", n)
		r.at(3, key).set(t, key, "value of "+key, "T0")
	}
	moving := r.move(t, clienthash.Rendezvous, 3, 2)
	moving.copy(t)
	r.servers[2].Signal(t, syscall.SIGKILL)
	if err := moving.end(t); err == nil {
		t.Error("the move did not fail")
	}
	for n := range keys {
		key := fmt.Sprintf("key-%d", n)
		if r.choose[3]([]byte(key)) != 2 {
			continue
		}
		if answer, _, err := r.at(2, key).get(key, ""); err != nil || answer != "EN" {
			t.Fatalf("%s: %q, %v", key, answer, err)
		}
	}
}
