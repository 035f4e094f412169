package handoff

import (
	"fmt"
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

// ofAges are keys of these ages in seconds, of 100 bytes each. An age is the key.
func ofAges(t *testing.T, ages ...int64) *spool {
	t.Helper()
	s, err := newSpool()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	for _, age := range ages {
		if err := s.add(dumped{key{token: fmt.Sprint(age)}, s.now - age, true, 100}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// keysOf are the keys of spans, in their order.
func keysOf(t *testing.T, s *spool, spans []span) (keys []string) {
	t.Helper()
	for _, of := range spans {
		if err := s.each(of, func(k key) error { keys = append(keys, k.token); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

func TestTheOrderOfKeys(t *testing.T) {
	s := ofAges(t, 30, 5000, 2, 300000, 2, 60)
	for name, tc := range map[string]struct {
		spans []span
		want  []string
	}{
		"the hottest first":           {s.hottest(1), []string{"2", "2", "30", "60", "5000", "300000"}},
		"with more room than needed":  {s.hottest(1.5), []string{"2", "2", "30", "60", "5000", "300000"}},
		"the coldest first":           {s.coldestFirst(), []string{"300000", "5000", "60", "30", "2", "2"}},
		"half of the bytes":           {s.hottest(0.5), []string{"2", "2", "30"}},
		"a little more than the half": {s.hottest(0.51), []string{"2", "2", "30", "60"}},
		"next to nothing":             {s.hottest(0.01), []string{"2", "2"}},
	} {
		if diff := cmp.Diff(tc.want, keysOf(t, s, tc.spans)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got := s.left(tc.spans); got != int64(6-len(tc.want)) {
			t.Errorf("%s: %d keys are left", name, got)
		}
	}
}

func TestAListIsReadAFewTimesAtMost(t *testing.T) {
	var ages []int64
	for n := range 5000 {
		ages = append(ages, int64(n))
	}
	for name, s := range map[string]*spool{"many ages": ofAges(t, ages...), "no keys": ofAges(t), "one age": ofAges(t, 7, 7)} {
		spans := s.hottest(1)
		if got := len(keysOf(t, s, spans)); len(spans) > mostSpans+1 || s.left(spans) != 0 {
			t.Errorf("%s: %d keys in %v", name, got, spans)
		}
	}
	if s := ofAges(t, ages...); len(keysOf(t, s, s.hottest(1))) != len(ages) {
		t.Error("keys are missing")
	}
}

func TestTheHottestKeysAreNextOnceTheTimeMayNotSuffice(t *testing.T) {
	s := ofAges(t, 0, 1, 2, 3, 4, 5, 6, 7)
	h := &Handoff{Settings: Settings{Rate: 100}}
	h.counts.totalBytes.Store(1000)
	c := &copier{session: &session{handoff: h}}
	var got []string
	for of := range c.ordered(s.hottest(1)) {
		got = append(got, keysOf(t, s, []span{of})...)
		switch len(got) {
		case 2:
			h.Hurry(time.Hour) // is long enough
		case 4:
			h.Hurry(time.Second)
		}
	}
	if diff := cmp.Diff([]string{"7", "6", "5", "4", "0", "1", "2", "3"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestACopyComesToItsEndInTime(t *testing.T) {
	for limit, late := range map[time.Duration]time.Duration{
		time.Minute: 54 * time.Second, 30 * time.Second: 25 * time.Second, time.Second: time.Second / 2,
	} {
		h := &Handoff{}
		h.endsWithin(2 * limit)
		h.endsWithin(limit)
		h.endsWithin(3 * limit) // is no reason to take longer
		at := time.Now().Add(late)
		if h.isLate(at.Add(-200*time.Millisecond)) || !h.isLate(at.Add(200*time.Millisecond)) {
			t.Errorf("with %s left, it is not late after %s", limit, late)
		}
	}
}
