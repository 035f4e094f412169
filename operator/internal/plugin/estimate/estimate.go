// Package estimate predicts the hit ratio of a memcached server with another memory, from the requests of some seconds.
// It is pure.
//
// Memcached removes roughly the items that were not used for the longest time. The reuse distance of a read is the
// number of other keys that were used since the last use of its key. The read is a hit if this distance is smaller than
// the number of items that fit into memory. So the hit ratio of a memory is the share of the reads whose distance is
// smaller than that number. Two problems are solved:
//
//   - The distances of all keys would need much memory and time. A share of the keys suffices, chosen by a hash, with
//     distances scaled by that share (SHARDS: Waldspurger et al., FAST '15). If the sample has too few or too many
//     reads, because of hot keys, the number of reads at the smallest distance is corrected, as in that paper.
//   - The last use of a key may lie before the first request. The distance of the key's first read is then only known
//     to be above the number of keys that were used since the first request. Such reads are censored values for the
//     product-limit estimator (Kaplan and Meier, 1958), so that a short time does not make every first read a miss.
package estimate

import (
	"hash/maphash"
	"math"

	"github.com/example-inc/memcached-operator/operator/internal/uselog"
)

// sampledKeys is about how many of the keys that fit into memory are sampled. In the paper (FAST '15), the errors with
// so many sampled keys are below 1%.
const sampledKeys = 8192

// Sampler collects the requests of a server.
type Sampler struct {
	seed       maphash.Seed
	rate       float64 // share of the keys
	reads      int     // of all keys
	found      int
	references []reference
}

type reference struct {
	key         uint64
	read, found bool
}

// NewSampler returns a Sampler for a server with this many items.
func NewSampler(items int64) *Sampler {
	return &Sampler{seed: maphash.MakeSeed(), rate: min(1, sampledKeys/float64(max(items, 1)))}
}

// Use collects a request.
func (s *Sampler) Use(u uselog.Use) {
	if u.Read {
		s.reads++
		if u.Found {
			s.found++
		}
	}
	key := maphash.String(s.seed, u.Key)
	if float64(key)/math.MaxUint64 < s.rate {
		s.references = append(s.references, reference{key, u.Read, u.Found})
	}
}

// Reads returns how many reads were collected.
func (s *Sampler) Reads() int { return s.reads }

// Server has the statistics of a server that a prediction needs.
type Server struct {
	Items       int64 // that it has
	Used, Limit int64 // bytes
	Evicting    bool  // it has evicted items in the time of the requests
}

// Prediction is the predicted hit ratio with an amount of memory.
type Prediction struct {
	// Memory is a multiple of the server's memory.
	Memory float64 `json:"memory"`

	HitRatio float64 `json:"hitRatio"`

	// Extrapolated: too few keys were used to know the ratio, so it is estimated by continuing the curve of
	// smaller memories.
	Extrapolated bool `json:"extrapolated,omitempty"`
}

// Predict returns the hit ratios with multiples of the memory; none without reads.
func (s *Sampler) Predict(server Server, memories ...float64) []Prediction {
	if s.reads == 0 || server.Items == 0 {
		return nil
	}
	capacity := float64(server.Items)
	if !server.Evicting && server.Used > 0 {
		capacity *= float64(server.Limit) / float64(server.Used)
	}
	c := newCurve(s.distances(), s.rate, float64(s.reads))
	c.anchor(capacity, float64(s.found)/float64(s.reads))
	var predictions []Prediction
	for _, memory := range memories {
		at := capacity * memory
		if !server.Evicting && at >= float64(server.Items) {
			at = capacity // The server has all items already.
		}
		ratio, known := c.at(at)
		predictions = append(predictions, Prediction{Memory: memory, HitRatio: ratio, Extrapolated: !known})
	}
	return predictions
}

// distance is how many other sampled keys were used since the last use of a key. It is censored if that use was before
// the first observed request: the real distance then is at least as large.
type distance struct {
	keys     int
	censored bool
}

// distances returns the distances of all sampled reads.
func (s *Sampler) distances() []distance {
	last := map[uint64]int{}
	used := newTree(len(s.references)) // 1 at the last use of each key
	var found []distance
	for now, r := range s.references {
		before, seen := last[r.key]
		if r.read {
			d := distance{keys: len(last), censored: true}
			if seen {
				d = distance{keys: used.sum(now) - used.sum(before+1)}
			}
			found = append(found, d)
		}
		if seen {
			used.add(before, -1)
		}
		used.add(now, 1)
		last[r.key] = now
	}
	return found
}

// tree is a Fenwick tree, which computes the sum of its first entries in logarithmic time.
type tree []int

func newTree(size int) tree { return make(tree, size+1) }

func (t tree) add(at, value int) {
	for at++; at < len(t); at += at & -at {
		t[at] += value
	}
}

// sum returns the sum of the entries before this index.
func (t tree) sum(before int) (total int) {
	for ; before > 0; before -= before & -before {
		total += t[before]
	}
	return total
}
