package curve

// Computes the hit ratio with each amount of memory, from the counts of the tracker.

import (
	"math"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// counts are the counts of a period.
type counts struct {
	began  time.Duration
	reads  float64   // of all keys
	found  float64   // reads of all keys that found their item
	has    float64   // memory for items; 0 if it is unknown
	again  []float64 // reads of a sample, by the time since the last use
	first  []float64 // reads of keys without an earlier use since the start, by the time since the start
	lost   []float64 // reads of keys whose last use was so long ago that they are not followed any more
	gone   []float64 // reads that would find nothing even if items stay for an age, because the item expired before
	never  float64   // reads that no memory would have answered
	memory []memory  // of the items that were used within each age
}

// memory is the memory at several moments.
type memory struct{ sum, count, most float64 }

func (m *memory) add(bytes float64) {
	m.sum, m.count, m.most = m.sum+bytes, m.count+1, max(m.most, bytes)
}

func newCounts(began time.Duration) *counts {
	return &counts{
		began: began, again: make([]float64, len(ages)+1), first: make([]float64, len(ages)+1),
		lost: make([]float64, len(ages)), gone: make([]float64, len(ages)), memory: make([]memory, len(ages)),
	}
}

// ratios returns, for each age, the share of the reads whose key was used within that age before the read. A read whose
// key has an unknown last use counts only for the ages at which that use would be known (the Kaplan-Meier estimator).
func (c *counts) ratios() []float64 {
	left := c.never
	for i := range c.again {
		left += c.again[i] + c.first[i]
	}
	for _, lost := range c.lost {
		left += lost
	}
	// Whether a hot key is in the sample is chance. As in SHARDS, surplus or missing reads in the sample count as reads
	// of such a key.
	missing := c.reads - left
	left, missed, gone, all := c.reads, 1., 0., make([]float64, len(ages))
	for i := range ages {
		left -= c.lost[i]
		hits := max(0, c.again[i]+missing)
		missing = min(0, missing+c.again[i])
		if atRisk := left - c.first[i]/2; atRisk > 0 {
			missed *= 1 - min(1, hits/atRisk)
		}
		left -= hits + c.first[i]
		gone += c.gone[i]
		all[i] = max(0, 1-missed-gone/max(c.reads, 1))
	}
	return all
}

// known returns for how many ages the memory is known.
func (c *counts) known() (count int) {
	for count < len(ages) && c.memory[count].count > 0 {
		count++
	}
	return count
}

// hitRatio returns the hit ratio of a memory. ratios are the hit ratios by age.
func (c *counts) hitRatio(bytes float64, ratios []float64) float64 {
	below, ratio := 0., 0.
	for i := range c.known() {
		mean := c.memory[i].sum / c.memory[i].count
		if mean > bytes {
			return ratio + (ratios[i]-ratio)*(bytes-below)/(mean-below)
		}
		below, ratio = mean, ratios[i]
	}
	return ratio
}

// reaches reports whether it is known for how long items stay in a memory of this many bytes.
func (c *counts) reaches(bytes float64) bool {
	known := c.known()
	return known > 0 && bytes > 0 && c.memory[known-1].sum/c.memory[known-1].count >= bytes
}

// Curve returns the memory for each age up to half of the time of observation, and its hit ratio. Each memory includes
// spare bytes, which hold no items.
func (t *Tracker) Curve(at time.Duration, spare float64) (points []usage.Point) {
	e := estimate{periods: t.periods}
	for _, c := range t.periods {
		e.ratios = append(e.ratios, c.ratios())
	}
	e.adjust(spare)
	last := usage.Point{}
	for index, age := range ages {
		if age > at/2 {
			break
		}
		bytes := 0.
		for _, c := range t.periods {
			bytes = max(bytes, c.memory[index].most)
		}
		hits, known := e.hitRatio(index, bytes)
		if bytes == 0 || !known {
			continue
		}
		last = usage.Point{
			Age: int64(age / time.Second), Memory: max(last.Memory, int64(math.Ceil(bytes+spare))),
			HitRatio: max(last.HitRatio, hits),
		}
		points = append(points, last)
	}
	return points
}

// estimate are the hit ratios of all periods.
type estimate struct {
	periods []*counts
	ratios  [][]float64
	most    float64 // the highest hit ratio of all
	share   float64 // the part of the reads that an LRU with this memory would miss, and that memcached misses, too
}

// adjust compares memcached with an LRU of the same memory. Memcached's LRU has segments, in which hot items stay for
// longer, and its slab classes do not all evict at the same age. Both miss the reads that no memory would answer.
func (e *estimate) adjust(spare float64) {
	e.share = 1
	reads, found, expected := 0., 0., 0.
	for i, c := range e.periods {
		e.most = max(e.most, e.ratios[i][max(0, c.known()-1)])
		if c.reaches(c.has - spare) {
			reads, found = reads+c.reads, found+c.found
			expected += c.reads * c.hitRatio(c.has-spare, e.ratios[i])
		}
	}
	const least = 0.02 // of the reads; less is noise
	if missed := e.most*reads - expected; missed > least*reads {
		e.share = min(1, max(0.5, (e.most*reads-found)/missed))
	}
}

// hitRatio returns the hit ratio of a memory, from the periods in which the memory for the age with this index is
// known.
func (e *estimate) hitRatio(index int, bytes float64) (ratio float64, known bool) {
	hits, reads := 0., 0.
	for i, c := range e.periods {
		if c.memory[index].count > 0 {
			hits, reads = hits+c.reads*c.hitRatio(bytes, e.ratios[i]), reads+c.reads
		}
	}
	ratio = hits / max(reads, 1)
	return ratio + (1-e.share)*max(0, e.most-ratio), reads > 0
}
