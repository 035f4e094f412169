package curve

import (
	"math"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// counts are those of a period.
type counts struct {
	began  time.Duration
	reads  float64   // of all keys
	again  []float64 // reads of a sample, by the time since the last use
	first  []float64 // reads without a use since the start, by the time since the start
	lost   []float64 // reads of keys that are not followed from an age on, and were last used before
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
		lost: make([]float64, len(ages)), memory: make([]memory, len(ages)),
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
	left, missed, all := c.reads, 1., make([]float64, len(ages))
	for i := range ages {
		left -= c.lost[i]
		hits := max(0, c.again[i]+missing)
		missing = min(0, missing+c.again[i])
		if atRisk := left - c.first[i]/2; atRisk > 0 {
			missed *= 1 - min(1, hits/atRisk)
		}
		left -= hits + c.first[i]
		all[i] = 1 - missed
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

// Curve returns the memory for each age up to half of the time, and what it brings.
func (t *Tracker) Curve(at time.Duration) (points []usage.Point) {
	ratios := make([][]float64, len(t.periods))
	for i, c := range t.periods {
		ratios[i] = c.ratios()
	}
	last := usage.Point{}
	for index, age := range ages {
		if age > at/2 {
			break
		}
		bytes, hits, reads := 0., 0., 0.
		for _, c := range t.periods {
			bytes = max(bytes, c.memory[index].most)
		}
		for i, c := range t.periods {
			if c.memory[index].count > 0 {
				hits, reads = hits+c.reads*c.hitRatio(bytes, ratios[i]), reads+c.reads
			}
		}
		if bytes == 0 || reads == 0 {
			continue
		}
		last = usage.Point{
			Age: int64(age / time.Second), Memory: max(last.Memory, int64(math.Ceil(bytes))),
			HitRatio: max(last.HitRatio, hits/reads),
		}
		points = append(points, last)
	}
	return points
}
