package estimate

import (
	"container/list"
	"math"
	"math/rand/v2"
	"sort"
	"strconv"
	"testing"

	"github.com/example-inc/memcached-operator/operator/internal/uselog"
)

// zipf returns keys whose popularity falls with a power of their rank.
func zipf(keys int, alpha float64, random *rand.Rand) func() int {
	sums := make([]float64, keys)
	for i := range sums {
		sums[i] = math.Pow(float64(i+1), -alpha)
		if i > 0 {
			sums[i] += sums[i-1]
		}
	}
	return func() int { return sort.SearchFloat64s(sums, random.Float64()*sums[keys-1]) }
}

// lru is an exact cache.
type lru struct {
	capacity int
	order    *list.List
	entries  map[int]*list.Element
}

func newLRU(capacity int) *lru { return &lru{capacity, list.New(), map[int]*list.Element{}} }

// get returns whether a key is cached, and stores it if not.
func (l *lru) get(key int) bool {
	if entry, ok := l.entries[key]; ok {
		l.order.MoveToFront(entry)
		return true
	}
	l.entries[key] = l.order.PushFront(key)
	if l.order.Len() > l.capacity {
		oldest := l.order.Back()
		delete(l.entries, l.order.Remove(oldest).(int))
	}
	return false
}

// load is a load on a server, and the part of it that is watched.
type load struct {
	alpha             float64
	keys, capacity    int
	watched           int // requests
	extrapolatesTwice bool
}

// simulate returns the predictions for a load, and the results of exact caches with these memories for the same
// requests.
func simulate(l load, seed uint64, memories []float64) (predicted []Prediction, exact []float64) {
	random := rand.New(rand.NewPCG(seed, 1))
	next := zipf(l.keys, l.alpha, random)
	caches, hits := []*lru{newLRU(l.capacity)}, make([]int, len(memories)+1)
	for _, memory := range memories {
		caches = append(caches, newLRU(int(float64(l.capacity)*memory)))
	}
	for range 3 * l.keys {
		key := next()
		for _, cache := range caches {
			cache.get(key)
		}
	}
	s := NewSampler(int64(l.capacity))
	for range l.watched {
		key := next()
		for i, cache := range caches {
			hit := cache.get(key)
			if hit {
				hits[i]++
			}
			if i == 0 {
				s.Use(uselog.Use{Key: strconv.Itoa(key), Read: true, Found: hit})
				if !hit {
					s.Use(uselog.Use{Key: strconv.Itoa(key), Found: true})
				}
			}
		}
	}
	for _, hit := range hits[1:] {
		exact = append(exact, float64(hit)/float64(l.watched))
	}
	return s.Predict(Server{Items: int64(l.capacity), Used: 1, Limit: 1, Evicting: true}, memories...), exact
}

func TestAPredictionIsWithinThreePointsOfAnExactCache(t *testing.T) {
	memories := []float64{0.5, 1, 2}
	for name, l := range map[string]load{
		"even load":                          {0.6, 20000, 2000, 100000, false},
		"usual load":                         {0.8, 20000, 2000, 100000, false},
		"usual load, small cache":            {0.9, 20000, 300, 30000, false},
		"skewed load":                        {1.0, 20000, 2000, 100000, false},
		"very skewed load":                   {1.2, 20000, 1000, 100000, false},
		"a sample of the keys":               {0.9, 50000, 12000, 120000, false},
		"a sample of the keys, skewed":       {1.1, 50000, 12000, 250000, false},
		"a cache that holds almost all keys": {0.9, 5000, 4000, 100000, true},
		"watched for a short time":           {0.9, 20000, 2000, 5000, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(2) {
				predicted, exact := simulate(l, seed, memories)
				for i, p := range predicted {
					if off := math.Abs(p.HitRatio - exact[i]); off > 0.03 {
						t.Errorf("%gx: predicted %.3f, exact %.3f", p.Memory, p.HitRatio, exact[i])
					}
				}
				t.Logf("%.3v %.3v", predicted, exact)
				if predicted[2].Extrapolated != l.extrapolatesTwice {
					t.Errorf("extrapolated: %+v", predicted)
				}
			}
		})
	}
}

func TestAServerThatEvictsNothingGainsNothing(t *testing.T) {
	s := NewSampler(4)
	for range 50 {
		for _, key := range []string{"a", "b", "c", "d"} {
			s.Use(uselog.Use{Key: key, Read: true, Found: true})
		}
	}
	s.Use(uselog.Use{Key: "never stored", Read: true})
	for used, half := range map[int64]float64{10: 200. / 201, 90: 0} {
		got := s.Predict(Server{Items: 4, Used: used, Limit: 100}, 0.5, 1, 2)
		if math.Abs(got[0].HitRatio-half) > 0.02 || got[1].HitRatio != 200./201 || got[2].HitRatio != 200./201 {
			t.Errorf("%d%% used: %+v", used, got)
		}
	}
	if got := NewSampler(4).Predict(Server{Items: 4, Limit: 1}, 1); got != nil {
		t.Errorf("got %+v without reads", got)
	}
}
