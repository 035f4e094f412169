//go:build e2e

package snapshot

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
)

// keys is the number of keys of a server: they fill three blocks.
const keys = 9000

// cache starts servers of the names shop-0, shop-1 and so on.
func cache(t testing.TB, size int) (servers []Server) {
	t.Helper()
	for i := range size {
		address := memcachedtest.Start(t, "--memory-limit=200").Address
		servers = append(servers, Server{
			Name: "shop-" + strconv.Itoa(i), Address: address, Dial: handoff.Server{Address: address}.Dial,
		})
	}
	return servers
}

// talk sends commands to a server, and returns the lines of the answer to all of them.
func talk(t testing.TB, server Server, commands string) (lines []string) {
	t.Helper()
	connection, err := net.Dial("tcp", server.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	go func() { _, _ = connection.Write([]byte(commands + "mn\r\n")) }()
	answers := bufio.NewScanner(connection)
	for answers.Scan() && answers.Text() != "MN" {
		lines = append(lines, answers.Text())
	}
	return lines
}

// fill stores keys from a number on.
func fill(t testing.TB, server Server, from int) {
	t.Helper()
	var commands strings.Builder
	for i := from; i < from+keys; i++ {
		value := fmt.Sprintf("value %d of some length, as small values have", i)
		fmt.Fprintf(&commands, "ms key-%d %d F%d T%d q\r\n%s\r\n", i, len(value), i%7, 3600*(i%2), value)
	}
	if lines := talk(t, server, commands.String()); len(lines) > 0 {
		t.Fatal(lines[0])
	}
}

// held counts how many of the first count keys a server has.
func held(t testing.TB, server Server, count int) int {
	t.Helper()
	var commands strings.Builder
	for i := range count {
		fmt.Fprintf(&commands, "mg key-%d s q\r\n", i)
	}
	return len(talk(t, server, commands.String()))
}

// saved returns a store with the snapshot "daily" of two servers, and these servers.
func saved(t testing.TB) (*memory, []Server) {
	t.Helper()
	from := cache(t, 2)
	fill(t, from[0], 0)
	fill(t, from[1], keys)
	store := newMemory()
	s := &Save{Store: store, Name: "daily", Cache: "shop", Servers: from, Pace: handoff.Limit(0)}
	m, err := s.Run(t.Context())
	if err != nil || m.Total().Items != 2*keys || s.Progress.Items.Load() != 2*keys || s.Progress.Total.Load() != 2*keys {
		t.Fatalf("%+v, %d of %d: %v", m, s.Progress.Items.Load(), s.Progress.Total.Load(), err)
	}
	return store, from
}

func restore(t testing.TB, store Store, to []Server, hash clienthash.Algorithm) (handoff.Added, error) {
	t.Helper()
	r := &Restore{Store: store, Name: "daily", Servers: to, Hash: hash, Pace: handoff.Limit(0)}
	_, added, err := r.Run(t.Context())
	return added, err
}

func TestACacheIsRestoredByTheNamesOfItsServers(t *testing.T) {
	store, _ := saved(t)
	to := cache(t, 2)
	talk(t, to[0], "ms key-1 5\r\nnewer\r\n")
	added, err := restore(t, store, []Server{to[1], to[0]}, "")
	if err != nil || added.Items != 2*keys || added.Kept != 1 || added.Refused+added.Expired != 0 {
		t.Fatalf("%+v, %v", added, err)
	}
	if first, second := held(t, to[0], 2*keys), held(t, to[1], 2*keys); first != keys || second != keys {
		t.Errorf("%d and %d keys", first, second)
	}
	got := talk(t, to[0], "mg key-1 v f\r\nmg key-8 v f\r\nmg key-8 t\r\nmg key-9 t\r\n")
	want := []string{"VA 5 f0", "newer", "VA 44 f1", "value 8 of some length, as small values have", "HD t-1"}
	if diff := cmp.Diff(want, got[:5]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ttl, err := strconv.Atoi(strings.TrimPrefix(got[5], "HD t"))
	if err != nil || ttl > 3600 || ttl < 3500 {
		t.Errorf("an hour became %s", got[5])
	}
}

func TestACacheOfAnotherSizeIsRestoredByTheHash(t *testing.T) {
	store, _ := saved(t)
	to := cache(t, 3)
	if _, err := restore(t, store, to, ""); err == nil {
		t.Error("nobody knows where the keys go")
	}
	if _, err := restore(t, store, to, clienthash.CRC32Modulo); err != nil {
		t.Fatal(err)
	}
	choose, err := clienthash.New(clienthash.CRC32Modulo, []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	var want, got [3]int
	for i := range 2 * keys {
		want[choose(fmt.Appendf(nil, "key-%d", i))]++
	}
	for i := range to {
		got[i] = held(t, to[i], 2*keys)
	}
	if want != got {
		t.Errorf("the servers have %d keys, want %d", got, want)
	}
}

// TestASaveThatIsKilledIsNeverRestored kills a save at each of its writes: within each block, between the servers, and
// within the manifest.
func TestASaveThatIsKilledIsNeverRestored(t *testing.T) {
	whole, from := saved(t)
	to := cache(t, 2)
	writes := 0
	for {
		writes++
		store := newMemory()
		store.left = writes
		s := &Save{Store: store, Name: "daily", Cache: "shop", Servers: from, Pace: handoff.Limit(0)}
		if _, err := s.Run(t.Context()); err == nil {
			break
		}
		left := store.copy()
		if added, err := restore(t, left, to, ""); err == nil || added.Items > 0 {
			t.Fatalf("killed at write %d: %+v is restored: %v", writes, added, err)
		}
		if _, err := (&Verify{Store: left, Name: "daily"}).Run(t.Context()); err == nil {
			t.Fatalf("killed at write %d: it is whole", writes)
		}
		if writes%5 == 0 { // the next attempt succeeds despite the objects that are left
			again := &Save{Store: left, Name: "daily", Servers: from, Pace: handoff.Limit(0)}
			if _, err := again.Run(t.Context()); err != nil {
				t.Fatalf("killed at write %d: it cannot be saved again: %v", writes, err)
			}
		}
	}
	const least = 2*(2+3*2+2) + 1 // for each server a head, three blocks and an end, and once the manifest
	if writes <= least || held(t, to[0], 2*keys) > 0 {
		t.Errorf("only %d writes", writes)
	}
	t.Logf("killed at each of %d writes of %d objects", writes-1, len(whole.objects))
}

func TestNothingIsReadOrWrittenWhileAnAgentCopiesTheKeys(t *testing.T) {
	store, from := saved(t)
	watched(t, from[1])
	// An agent that watches how memcached is used does not disturb a save.
	unhurt := &Save{Store: newMemory(), Name: "daily", Servers: from, Pace: handoff.Limit(0)}
	if _, err := unhurt.Run(t.Context()); err != nil {
		t.Error(err)
	}
	copies(t, from[1])
	s := &Save{Store: newMemory(), Name: "daily", Servers: from, Pace: handoff.Limit(0)}
	if _, err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "shop-1: an agent copies its keys") {
		t.Error(err)
	}
	if _, err := restore(t, store, from, ""); err == nil || !strings.Contains(err.Error(), "copies its keys") {
		t.Error(err)
	}
}

// watched starts a client that watches the log of a server.
func watched(t *testing.T, server Server) {
	t.Helper()
	connection := connected(t, server)
	fmt.Fprint(connection, "watch mutations\r\n")
	if _, err := connection.Read(make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
}

// copies starts a client that writes markers, as an agent that copies keys does.
func copies(t *testing.T, server Server) {
	t.Helper()
	connection := connected(t, server)
	go func() {
		for t.Context().Err() == nil {
			fmt.Fprint(connection, "ms memcached-agent-handoff-test-1 0 T-1 MR Om\r\n\r\n")
			time.Sleep(100 * time.Millisecond)
		}
	}()
}

func connected(t *testing.T, server Server) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", server.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}
