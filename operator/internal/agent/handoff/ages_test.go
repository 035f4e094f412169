package handoff

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheAgeOfAnItem(t *testing.T) {
	tests := map[int64]byte{
		-5: 0, 0: 0, 1: 1, 63: 63, 64: 64, 69: 64, 70: 65, 127: 71, 128: 72, 60 * 60: 110, 1 << 40: 255,
	}
	for seconds, want := range tests {
		if got := ageOf(seconds); got != want {
			t.Errorf("%d s: %d, want %d", seconds, got, want)
		}
	}
}

// ofAges returns a list with a key for each of these ages in seconds. The key is the age, and two items take a page of
// memory.
func ofAges(t *testing.T, ages ...int64) *spool {
	t.Helper()
	s, err := newSpool()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	for _, age := range ages {
		if err := s.add(dumped{key{token: fmt.Sprint(age)}, s.now - age, true, 430_000}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// keysOf returns the keys of spans, in their order.
func keysOf(t *testing.T, s *spool, spans []*span) (keys []string) {
	t.Helper()
	for _, of := range spans {
		if err := s.each(of, func(k listed) error { keys = append(keys, k.token); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

// ofPages returns a room of which this number of pages is surely free.
func ofPages(sure float64) room { return room{pages: (sure + 1) / 0.97, servers: 1, copiers: 1} }

func TestTheOrderOfKeys(t *testing.T) {
	s := ofAges(t, 30, 5000, 2, 300000, 2, 60, 5000)
	for name, tc := range map[string]struct {
		spans []*span
		want  []string
	}{
		"the hottest first":             {s.hottest(everything()), []string{"2", "2", "30", "60", "5000", "5000", "300000"}},
		"with more room than needed":    {s.hottest(ofPages(9)), []string{"2", "2", "30", "60", "5000", "5000", "300000"}},
		"the coldest first":             {s.coldestFirst(), []string{"300000", "5000", "5000", "60", "30", "2", "2"}},
		"half of the memory":            {surely(s.hottest(ofPages(2))), []string{"2", "2", "30", "60"}},
		"half of a page more":           {surely(s.hottest(ofPages(2.5))), []string{"2", "2", "30", "60", "5000"}},
		"a page for two of one age":     {surely(s.hottest(ofPages(1))), []string{"2", "2"}},
		"next to nothing":               {surely(s.hottest(ofPages(-1))), nil},
		"what may fit, too":             {s.hottest(ofPages(1)), []string{"2", "2", "30", "60", "5000", "5000"}},
		"as much memory as before":      {s.hottest(room{3, 1, 1, true}), []string{"2", "2", "30", "60", "5000", "5000", "300000"}},
		"in a hurry, as much as before": {surely(s.hottest(room{3, 1, 1, true})), []string{"2", "2"}},
	} {
		if diff := cmp.Diff(tc.want, keysOf(t, s, tc.spans)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// surely returns the spans that surely fit.
func surely(spans []*span) []*span {
	return slices.DeleteFunc(spans, func(of *span) bool { return of.spare })
}

func TestAListIsReadAFewTimesAtMost(t *testing.T) {
	var ages []int64
	for n := range 5000 {
		ages = append(ages, int64(n))
	}
	for name, s := range map[string]*spool{"many ages": ofAges(t, ages...), "no keys": ofAges(t), "one age": ofAges(t, 7, 7)} {
		spans := s.hottest(everything())
		want := int(s.ages.keys(0, math.MaxUint8))
		if got := len(keysOf(t, s, spans)); len(spans) > mostSpans+1 || got != want {
			t.Errorf("%s: %d keys of %d in %d spans", name, got, want, len(spans))
		}
	}
}

func TestASpanContinuesWhereItStopped(t *testing.T) {
	s := ofAges(t, 7, 1, 7, 7, 2, 7)
	of, found := &span{from: 7, to: 7, end: 3}, 0
	for of.left() > 0 {
		if err := s.each(of, func(listed) error { found++; return errTurn }); !errors.Is(err, errTurn) {
			t.Fatal(err)
		}
	}
	if err := s.each(of, func(listed) error { return errTurn }); err != nil {
		t.Error(err)
	}
	if found != 3 {
		t.Errorf("%d keys", found)
	}
}

func TestACopyComesToItsEndInTime(t *testing.T) {
	for limit, late := range map[time.Duration]time.Duration{
		time.Minute: 54 * time.Second, 30 * time.Second: 25 * time.Second, time.Second: time.Second / 2,
	} {
		h := &Handoff{}
		h.endsWithin(2 * limit)
		h.endsWithin(limit)
		h.endsWithin(3 * limit) // An earlier limit stays in force.
		at := time.Now().Add(late)
		if h.isLate(at.Add(-200*time.Millisecond)) || !h.isLate(at.Add(200*time.Millisecond)) {
			t.Errorf("with %s left, it is not late after %s", limit, late)
		}
	}
}
