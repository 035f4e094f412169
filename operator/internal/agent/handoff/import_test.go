package handoff

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/clienthash"
)

func ringOf(hash clienthash.Algorithm, names ...string) Ring {
	return Ring{Hash: hash, Names: names, Dials: make([]Dial, len(names))}
}

func TestImportMovesEachKeyFromWhereItIsToWhereClientsWillLook(t *testing.T) {
	from := ringOf(clienthash.Ketama, "10.0.0.1:11211", "10.0.0.2:11211", "10.0.0.3:11311")
	to := ringOf(clienthash.Rendezvous, "shop-0.shop-slots.team.svc:11211", "shop-1.shop-slots.team.svc:11211")
	move, err := Import(from, to)
	if err != nil {
		t.Fatal(err)
	}
	source, err := clienthash.New(from.Hash, from.Names)
	if err != nil {
		t.Fatal(err)
	}
	target, err := clienthash.New(to.Hash, to.Names)
	if err != nil {
		t.Fatal(err)
	}
	used := map[[2]int]bool{}
	for n := range 1000 {
		key := fmt.Appendf(nil, "key-%d", n)
		old, next := move.Of(key)
		if diff := cmp.Diff([2]int{source(key), 3 + target(key)}, [2]int{old, next}); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", key, diff)
		}
		used[[2]int{old, next}] = true
	}
	if len(used) != 6 {
		t.Errorf("keys move between %d pairs of servers", len(used))
	}
	var members []string
	for number, server := range move.Servers {
		members = append(members, fmt.Sprint(server.Side, " ", server.Name, " ", move.isSource(number), " ", move.isTarget(number)))
	}
	want := []string{
		"Old 10.0.0.1:11211 true false", "Old 10.0.0.2:11211 true false", "Old 10.0.0.3:11311 true false",
		"New shop-0.shop-slots.team.svc:11211 false true", "New shop-1.shop-slots.team.svc:11211 false true",
	}
	if diff := cmp.Diff(want, members); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAListThatCannotBeImported(t *testing.T) {
	one := ringOf(clienthash.Ketama, "a:1")
	tests := map[string]struct {
		from, to Ring
		want     string
	}{
		"no source":           {Ring{Hash: clienthash.Ketama}, one, "the servers to copy from: Ketama: the list of servers is empty"},
		"no target":           {one, Ring{Hash: clienthash.Ketama}, "the servers to copy to: Ketama: the list of servers is empty"},
		"an unknown hash":     {one, ringOf("Maglev", "b:1"), `the servers to copy to: algorithm "Maglev" is unknown`},
		"names without Dials": {Ring{Hash: clienthash.Ketama, Names: []string{"a:1"}}, one, "the servers to copy from: 1 names and 0 addresses"},
		"one source and one target, whatever the hash": {one, ringOf(clienthash.JumpSorted, "b:1"), "<nil>"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Import(tc.from, tc.to)
			if diff := cmp.Diff(tc.want, fmt.Sprint(err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAllCopiersShareTheRate: a copy from several servers into one is no faster than one from a single server.
func TestAllCopiersShareTheRate(t *testing.T) {
	p := pace{limit: func(time.Time) float64 { return 1000 }}
	now := time.Unix(0, 0)
	for copier, want := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second} {
		if got := p.add(1000, now); got != want {
			t.Errorf("copier %d waits for %s, want %s", copier, got, want)
		}
	}
	if got := p.add(1000, now.Add(time.Minute)); got != time.Second {
		t.Errorf("after a pause, it waits for %s", got)
	}
}

// TestASideThatIsLeftOutEndsNothing: when memcached ends, its heartbeat may be waiting for a marker. The heartbeat then
// fails later, when the session already continues without this memcached.
func TestASideThatIsLeftOutEndsNothing(t *testing.T) {
	for name, isAbsent := range map[string]bool{"left out": true, "needed": false} {
		t.Run(name, func(t *testing.T) {
			failed := false
			s := &side{fail: func(error) { failed = true }}
			if isAbsent {
				s.state.Store(absent)
			}
			s.lost(&Failure{Reason: LogLinesLost, Err: errors.New("a marker did not arrive")})
			if failed == isAbsent {
				t.Errorf("it ends the handoff: %v", failed)
			}
		})
	}
}
