//go:build e2e

package handoff_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/soak"
	"github.com/example-inc/memcached-operator/operator/clienthash"
)

// twoLists has clients with two lists of servers, and the handoff from one list to the other.
type twoLists struct {
	connect func(t *testing.T) [2]chooser // makes new connections each time, because workers can't share one
	move    func(t *testing.T) *running
}

func relisted(algorithm clienthash.Algorithm, before, after int) func(*testing.T) twoLists {
	return func(t *testing.T) twoLists {
		r := newRing(t, algorithm, max(before, after))
		r.rate = 1 << 20 // so that many keys change in the meantime
		return twoLists{
			connect: func(t *testing.T) [2]chooser {
				own := r.connected(t)
				return [2]chooser{own.chooser(before), own.chooser(after)}
			},
			move: func(t *testing.T) *running { return r.move(t, algorithm, before, after) },
		}
	}
}

func imported(from, to clienthash.Algorithm) func(*testing.T) twoLists {
	return func(t *testing.T) twoLists {
		old, next := outside(t, from, 3), newRing(t, to, 2)
		old.rate = 1 << 20
		return twoLists{
			connect: func(t *testing.T) [2]chooser {
				return [2]chooser{old.connected(t).chooser(3), next.connected(t).chooser(2)}
			},
			move: func(t *testing.T) *running { return old.moveTo(t, next, nil) },
		}
	}
}

func (r *ring) chooser(length int) chooser {
	return func(key string) *client { return r.at(length, key) }
}

func TestNoReadIsStaleWhileClientsHaveTwoLists(t *testing.T) {
	// The hashes differ in the servers that keys leave and reach: only modulo moves keys between all servers.
	tests := map[string]struct {
		begin     func(*testing.T) twoLists
		isSimilar bool // to the first two cases
	}{
		"CRC32Modulo from 3 to 4":                      {relisted(clienthash.CRC32Modulo, 3, 4), false},
		"Ketama outside of the cache to Rendezvous":    {imported(clienthash.Ketama, clienthash.Rendezvous), false},
		"Ketama from 3 to 4":                           {relisted(clienthash.Ketama, 3, 4), true},
		"Rendezvous from 4 to 3":                       {relisted(clienthash.Rendezvous, 4, 3), true},
		"CRC32Modulo from 4 to 3":                      {relisted(clienthash.CRC32Modulo, 4, 3), true},
		"CRC32Modulo outside of the cache to the same": {imported(clienthash.CRC32Modulo, clienthash.CRC32Modulo), true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.isSimilar {
				soak.Only(t, "the other two")
			}
			lists := tc.begin(t)
			first := lists.connect(t)
			for n := range untouched {
				key := fmt.Sprintf("key-%d", n)
				first[0](key).set(t, key, "value of "+key, "T0")
			}
			m := newModel(t, first[0])
			var group sync.WaitGroup
			m.work(t, &group, func() [2]chooser { return lists.connect(t) })
			stop := sync.OnceFunc(func() { close(m.stop); group.Wait() })
			t.Cleanup(stop)

			moving := lists.move(t)
			moving.copy(t)
			m.copied.Store(true)
			m.both.Store(true)
			<-time.After(3 * time.Second) // the overlap
			stop()
			violations, oldest := m.judge(t)
			found := found(t, first[1], untouched)
			t.Logf("%d writes; hits before %d, after %d; values up to %s old; kept %d of %d; %+v",
				m.writes.Load(), m.hits[0].Load(), m.hits[1].Load(), oldest, found, untouched, moving.Progress())
			for _, violation := range violations {
				t.Errorf("a client read an outdated value: %s", violation)
			}
			if found < untouched*995/1000 {
				t.Errorf("a client of the new list finds %d of %d keys", found, untouched)
			}
			if m.hits[0].Load() == 0 || m.hits[1].Load() == 0 {
				t.Error("no client read a value")
			}
		})
	}
}
