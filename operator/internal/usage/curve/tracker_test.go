package curve

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// follow lets a tracker see uses of a few keys for an hour, and returns the tracker's point for an age of a minute.
func follow(use func(t *Tracker, at time.Duration, second int)) usage.Point {
	tracker := New()
	for second := range 3600 {
		at := time.Duration(second) * time.Second
		use(tracker, at, second)
		if second%10 == 0 {
			tracker.Snapshot(at, func(i Item) float64 { return float64(i.Size) })
		}
	}
	for _, point := range tracker.Curve(time.Hour, 0) {
		if point.Age >= 60 {
			return usage.Point{Memory: point.Memory, HitRatio: math.Round(point.HitRatio*100) / 100}
		}
	}
	return usage.Point{}
}

func TestATracker(t *testing.T) {
	const key, other = 1 << 40, 1 << 50
	item := Item{Size: 100, Class: 1}
	read := func(t *Tracker, at time.Duration, key uint64, found bool) {
		hits := 0
		if found {
			hits = 1
		}
		t.Requested(at, 1, hits)
		t.Read(at, key, found, item)
	}
	tests := map[string]struct {
		use  func(t *Tracker, at time.Duration, second int)
		want usage.Point
	}{
		"a key that is read each second is always found": {
			func(t *Tracker, at time.Duration, _ int) { read(t, at, key, true) }, usage.Point{Memory: 100, HitRatio: 1},
		},
		"one that does not exist never is, and takes no memory": {
			func(t *Tracker, at time.Duration, _ int) {
				read(t, at, key, false)
				t.Store(at, other, item, 0)
			},
			usage.Point{Memory: 100},
		},
		"one that is deleted after each read is not": {
			func(t *Tracker, at time.Duration, _ int) {
				read(t, at, key, false)
				t.Store(at, key, item, 0)
				t.Delete(key)
				t.Store(at, other, item, 0)
			},
			usage.Point{Memory: 100},
		},
		"one that has expired before is not": {
			func(t *Tracker, at time.Duration, second int) {
				if t.Store(at, other, item, 0); second%20 == 0 {
					read(t, at, key, false)
					t.Store(at, key, item, 10*time.Second)
				}
			},
			usage.Point{Memory: 200},
		},
		"one that is found though it had expired was given more time": {
			func(t *Tracker, at time.Duration, second int) {
				if second%20 == 0 {
					t.Store(at, key, item, 5*time.Second)
				}
				read(t, at, key, true)
			},
			usage.Point{Memory: 100, HitRatio: 1},
		},
		"one that is used rarely is, if the memory of the busiest time suffices for it": {
			func(t *Tracker, at time.Duration, second int) {
				if t.Store(at, other, item, 0); second%300 == 0 {
					read(t, at, key, second > 0)
				}
			},
			usage.Point{Memory: 200, HitRatio: 0.92}, // The first read of 12 finds nothing.
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, follow(tc.use)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTheSampleIsBounded runs a scan of keys that are never used again, more than the sample can hold.
func TestTheSampleIsBounded(t *testing.T) {
	tracker, at := New(), time.Duration(0)
	for key := range uint64(2_000_000) {
		if at += time.Duration(key) / 1000 * time.Microsecond; tracker.Follows(mix(key)) {
			tracker.Store(at, mix(key), Item{Size: 100}, 0)
		}
		if len(tracker.sample.items) > most {
			t.Fatalf("%d keys are followed", len(tracker.sample.items))
		}
	}
	total := 0.
	for _, bytes := range tracker.sample.memory(at, func(i Item) float64 { return float64(i.Size) }) {
		total += bytes
	}
	if math.Abs(total/2e8-1) > 0.05 {
		t.Errorf("2 million items of 100 bytes take %.0f bytes", total)
	}
}

func TestACurveAscends(t *testing.T) {
	of := shape{exponent: 1, swing: 0.5, ttl: time.Hour, scan: 10_000}.trace(3)
	last := usage.Point{}
	for _, point := range watch(of, 3<<20, 5) {
		if point.Age <= last.Age || point.Memory < last.Memory || point.HitRatio < last.HitRatio || point.HitRatio > 1 {
			t.Errorf("%+v after %+v", point, last)
		}
		last = point
	}
	if last.Age != int64(longest.Seconds()) {
		t.Errorf("the last one is %+v", last)
	}
}
