package curve

// From what was counted to the hit ratio of each memory.

import (
	"math"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// counts are those of a period.
type counts struct {
	began  time.Duration
	reads  float64   // of all keys
	found  float64   // reads of all keys that found their item
	has    float64   // memory for items; 0 if it is unknown
	again  []float64 // reads of a sample, by the time since the last use
	first  []float64 // reads without a use since the start, by the time since the start
	lost   []float64 // reads of keys that are not followed from an age on, and were last used before
	gone   []float64 // reads that find nothing where an item stays for an age, since it expired before
	never  float64   // reads that no memory would have answered
	memory []memory  // of the items that were used within each age
}

// memory is that of several moments.
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

// ratios returns which share of the reads has its last use within each age. A read whose last use is unknown counts for
// the ages at which it would be known (Kaplan and Meier).
func (c *counts) ratios() []float64 {
	left := c.never
	for i := range c.again {
		left += c.again[i] + c.first[i]
	}
	for _, lost := range c.lost {
		left += lost
	}
	// A hot key is followed or not. As SHARDS does, what the sample has too few or too many is a read of such a key.
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

// known is how many ages are known.
func (c *counts) known() (count int) {
	for count < len(ages) && c.memory[count].count > 0 {
		count++
	}
	return count
}

// hitRatio is that of a memory, of which the ratios are those of its ages.
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

// reaches reports whether the age of a memory is known.
func (c *counts) reaches(bytes float64) bool {
	known := c.known()
	return known > 0 && bytes > 0 && c.memory[known-1].sum/c.memory[known-1].count >= bytes
}

// Curve returns the memory for each age up to half of the time, and what it brings. Of each memory, spare bytes hold no
// items.
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
	most    float64 // the highest of all
	share   float64 // of the reads that an LRU would miss for its memory, memcached does
}

// adjust compares an LRU of the memory that there is with memcached. Its LRU has segments, in which hot items stay for
// longer, and not all slab classes evict at the same age. What no memory would find is the same.
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

// hitRatio is that of a memory, in the periods in which an age is known.
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
