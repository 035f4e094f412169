package consistency

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func at(milliseconds int) time.Time { return time.UnixMilli(int64(milliseconds)) }

// set and get are requests that take 10 ms.
func set(began int, value string) Access {
	return Access{Began: at(began), Ended: at(began + 10), Key: "k", Writes: true, Value: value}
}

func get(began int, value string) Access {
	return Access{Began: at(began), Ended: at(began + 10), Key: "k", Value: value}
}

func stale(a Access, milliseconds int) Access {
	a.Stale = time.Duration(milliseconds) * time.Millisecond
	return a
}

func failed(a Access) Access {
	a.Error = "timeout"
	return a
}

func TestJudge(t *testing.T) {
	tests := map[string]struct {
		accesses []Access
		want     string // empty: nothing is wrong
	}{
		"the value that was stored":     {[]Access{set(0, "1"), get(20, "1")}, ""},
		"a miss":                        {[]Access{set(0, "1"), get(20, "")}, ""},
		"a value that nobody stored":    {[]Access{get(0, "1")}, `get k = "1", a value that no client stored`},
		"a read before the first write": {[]Access{get(0, "1"), set(20, "1")}, `get k = "1", a value that no client stored`},
		"a read during a write":         {[]Access{set(0, "1"), set(20, "2"), get(25, "1"), get(25, "2")}, ""},
		"an overwritten value":          {[]Access{set(0, "1"), set(20, "2"), get(40, "1")}, `get k = "1", but "2" was stored 10ms before`},
		"a deleted value":               {[]Access{set(0, "1"), set(20, ""), get(40, "1")}, `get k = "1", but "" was stored 10ms before`},
		"an old value after a miss":     {[]Access{set(0, "1"), get(20, ""), set(40, "2"), get(60, "1")}, `get k = "1", but "2" was stored 10ms before`},
		"a new value and then an old one, during a long write": {
			[]Access{set(0, "1"), {Began: at(20), Ended: at(100), Key: "k", Writes: true, Value: "2"}, get(30, "2"), get(50, "1")},
			`get k = "1", but "1" was stored 40ms before`,
		},
		"an old value within the bound":  {[]Access{set(0, "1"), set(20, "2"), stale(get(130, "1"), 100)}, ""},
		"an old value after the bound":   {[]Access{set(0, "1"), set(20, "2"), stale(get(131, "1"), 100)}, `get k = "1", but "2" was stored 101ms before`},
		"a failed write that came late":  {[]Access{failed(set(0, "1")), set(20, "2"), get(40, "1")}, ""},
		"a failed write that came twice": {[]Access{failed(set(0, "1")), get(20, "1"), set(40, "2"), get(60, "1")}, `get k = "1", but "2" was stored 10ms before`},
		"a failed write that did not":    {[]Access{set(0, "1"), failed(set(20, "2")), get(40, "1")}, ""},
		"a failed read":                  {[]Access{set(0, "1"), failed(get(20, "0"))}, ""},
		"another key":                    {[]Access{set(0, "1"), {Began: at(20), Ended: at(30), Key: "l", Value: "1"}}, `get l = "1", a value that no client stored`},
		"the first of two violations":    {[]Access{set(0, "1"), get(30, "3"), get(20, "2")}, `get k = "2", but "1" was stored 10ms before`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			violations, err := Judge(tc.accesses)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, b := range violations {
				got += b.String()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOldest(t *testing.T) {
	other := func(a Access) Access { a.Key = "other"; return a }
	tests := map[string]struct {
		accesses []Access
		want     int
	}{
		"nothing was outdated":    {[]Access{set(0, "1"), get(20, "1")}, 0},
		"the oldest of several":   {[]Access{set(0, "1"), set(20, "2"), get(35, "1"), get(57, "1"), get(58, "2")}, 27},
		"the oldest of all keys":  {[]Access{set(0, "1"), set(20, "2"), get(35, "1"), other(set(0, "1")), other(set(20, "")), other(get(40, "1"))}, 10},
		"not more than is looked": {[]Access{set(0, "1"), set(20, "2"), get(500, "1")}, 100},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Oldest(tc.accesses, 100*time.Millisecond)
			if want := time.Duration(tc.want) * time.Millisecond; err != nil || got != want {
				t.Errorf("%s, error %v, want %s", got, err, want)
			}
		})
	}
}

// BenchmarkJudge judges one key of the end-to-end tests after five minutes. Clients write the key twice a second, and
// read it six times a second, on a machine so slow that a read returns the previous value for up to a fifth of a
// second.
func BenchmarkJudge(b *testing.B) {
	const writes, readsAWrite = 600, 3
	random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // the same accesses each time
	var accesses []Access
	for i := range writes {
		accesses = append(accesses, set(i*500, strconv.Itoa(i)))
		for range readsAWrite {
			began := i*500 + random.IntN(490)
			current := i
			if began < i*500+200 && random.IntN(2) == 0 {
				current = i - 1
			}
			if current >= 0 {
				accesses = append(accesses, stale(get(began, strconv.Itoa(current)), 300))
			}
		}
	}
	for b.Loop() {
		if violations, err := Judge(accesses); err != nil || len(violations) > 0 {
			b.Fatal(violations, err)
		}
	}
}
