package curve

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

const (
	day   = 24 * time.Hour
	taken = 2 * day // by a trace
)

// shape has the properties of a trace.
type shape struct {
	exponent float64       // of Zipf's law
	swing    float64       // of a day, as a share of the mean
	scan     int           // keys that are read one after another within an hour, each day
	burst    float64       // by what factor there are more requests in ten minutes of each day
	fresh    float64       // the share of requests for keys that were never used before
	ttl      time.Duration // of most keys
	memory   int           // that the cache has
}

const requests = 700_000

func (s shape) trace(seed uint64) *trace {
	const popular = 200_000
	random := rand.New(rand.NewPCG(seed, 1))
	keys, next := newZipf(popular, s.exponent), int32(popular)
	made := &trace{size: func(key int32) int {
		return 60 + int(mix(uint64(key))%64) + 1<<(mix(uint64(key)*3)%12)
	}}
	if s.ttl > 0 {
		made.ttl = func(key int32) time.Duration { return s.ttl/2 + time.Duration(mix(uint64(key)*5)%uint64(s.ttl)) }
	}
	step := taken / requests
	for at := time.Duration(0); at < taken; {
		rate := 1 + s.swing*math.Sin(2*math.Pi*at.Hours()/24)
		hour := at % day
		if s.burst > 0 && hour > 15*time.Hour && hour < 15*time.Hour+10*time.Minute {
			rate *= s.burst
		}
		at += time.Duration(float64(step) * random.ExpFloat64() / rate)
		key := keys.draw(random)
		if random.Float64() < s.fresh {
			key, next = next, next+1
		}
		if s.scan > 0 && hour > 20*time.Hour && hour < 21*time.Hour && random.IntN(3) > 0 {
			key = popular/2 + int32(float64(s.scan)*(hour-20*time.Hour).Hours())
		}
		made.requests = append(made.requests, request{at, key})
	}
	made.keys = int(next)
	return made
}

func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// watch follows a cache with this memory, and returns its curve.
func watch(of *trace, memory int, seed uint64) []usage.Point {
	tracker, next := New(), time.Duration(0)
	tracker.Has(0, float64(memory))
	newLRU(of, memory, 0).run(func(r request, found bool) {
		for ; next <= r.at; next += 2 * time.Minute {
			tracker.Snapshot(next, func(i Item) float64 { return float64(i.Size) })
		}
		hits := 0
		if found {
			hits = 1
		}
		tracker.Requested(r.at, 1, hits)
		hash, item := mix(uint64(r.key)^seed<<32), Item{Size: of.size(r.key)}
		if !tracker.Follows(hash) {
			return
		}
		tracker.Read(r.at, hash, found, item)
		if !found {
			ttl := time.Duration(0)
			if of.ttl != nil {
				ttl = of.ttl(r.key)
			}
			tracker.Store(r.at, hash, item, ttl)
		}
	})
	return tracker.Curve(taken, 0)
}

func TestTheCurveIsThatOfAnLRU(t *testing.T) {
	tests := map[string]shape{
		"keys of about equal popularity": {exponent: 0.9, memory: 3 << 20},
		"a few hot keys":                 {exponent: 1.2, memory: 1 << 20},
		"a daily swing":                  {exponent: 1, swing: 0.7, memory: 2 << 20},
		"more memory than necessary":     {exponent: 1, swing: 0.7, memory: 40 << 20},
		"a scan each day":                {exponent: 1, swing: 0.4, scan: 30_000, memory: 3 << 20},
		"a burst each day":               {exponent: 1, swing: 0.4, burst: 8, memory: 3 << 20},
		"many keys that are used once":   {exponent: 1, swing: 0.4, fresh: 0.3, memory: 3 << 20},
		"keys that expire":               {exponent: 1, swing: 0.5, ttl: 2 * time.Hour, memory: 3 << 20},
		"keys that expire before":        {exponent: 1, swing: 0.5, ttl: 2 * time.Hour, memory: 20 << 20},
		"all of that": {
			exponent: 1.1, swing: 0.6, scan: 20_000, burst: 5, fresh: 0.1, ttl: 8 * time.Hour, memory: 2 << 20,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			of := tc.trace(7)
			curve := watch(of, tc.memory, 1)
			for _, aim := range []time.Duration{30 * time.Minute, 3 * time.Hour} {
				point := at(t, curve, aim)
				age := time.Duration(point.Age) * time.Second
				tenthLess, tenthMore := newLRU(of, int(float64(point.Memory)/1.1), day), newLRU(of, int(float64(point.Memory)/0.9), day)
				tenthLess.run(nil)
				tenthMore.run(nil)
				if tenthLess.youngest >= age || tenthMore.youngest < age {
					t.Errorf("%s: %d bytes, with a tenth less %s, with a tenth more %s", age, point.Memory, tenthLess.youngest, tenthMore.youngest)
				}
				achieved := newLRU(of, int(point.Memory), day)
				achieved.run(nil)
				off := achieved.hitRatio() - point.HitRatio
				t.Logf("%s: %d bytes, %s, hit ratio %.4f, %.4f expected", age, point.Memory, achieved.youngest, achieved.hitRatio(), point.HitRatio)
				if math.Abs(off) > 0.01 {
					t.Errorf("%s: the hit ratio is %.4f, %.4f is expected", age, achieved.hitRatio(), point.HitRatio)
				}
			}
		})
	}
}

func at(t *testing.T, curve []usage.Point, age time.Duration) usage.Point {
	t.Helper()
	for _, point := range curve {
		if point.Age >= int64(age.Seconds()) {
			return point
		}
	}
	t.Fatalf("the curve has %d points, and none for %s", len(curve), age)
	return usage.Point{}
}
