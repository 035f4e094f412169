package estimate

// The hit ratio as a function of the memory.

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// atRisk is how many reads must have a larger distance than a point of the curve, so that the point counts as known.
const atRisk = 100

// point is the hit ratio with memory for this many items.
type point struct{ items, ratio float64 }

// curve is the hit ratio by the number of items that fit into memory.
type curve struct {
	points []point // ascending
	offset float64

	// capacity and measured are the number of items and the hit ratio of the server itself, with its current memory.
	capacity, measured float64
}

// newCurve estimates a curve from sampled distances. The argument all is the number of reads of all keys.
func newCurve(distances []distance, rate, all float64) *curve {
	slices.SortFunc(distances, func(a, b distance) int {
		return cmp.Or(cmp.Compare(a.keys, b.keys), compareBools(a.censored, b.censored))
	})
	c := &curve{points: []point{{0, 0}}}
	// The sample should have all*rate reads. Reads of hot keys, whose distances are small, cause the difference.
	missing := max(all*rate-float64(len(distances)), -float64(len(distances))/2)
	left, misses := float64(len(distances))+missing, 1.
	if missing > 0 && len(distances) > 0 {
		misses, left = misses*(1-missing/left), left-missing
		missing = 0
	}
	for i := 0; i < len(distances); {
		keys, hits, censored := distances[i].keys, 0., 0.
		for ; i < len(distances) && distances[i].keys == keys; i++ {
			if distances[i].censored {
				censored++
			} else {
				hits++
			}
		}
		used := min(hits, -missing) // Surplus reads of hot keys do not count.
		missing, hits = missing+used, hits-used
		if left > 0 {
			misses *= 1 - min(1, hits/left)
		}
		left -= hits + censored
		if left < atRisk {
			break
		}
		c.points = append(c.points, point{(float64(keys) + 1) / rate, 1 - misses})
	}
	return c
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// anchor adjusts the curve to the measured hit ratio of the server, which is also affected by items that expire or are
// deleted.
func (c *curve) anchor(capacity, ratio float64) {
	c.capacity, c.measured = capacity, ratio
	if capacity <= c.last().items {
		c.offset = ratio - c.estimated(capacity)
	}
}

func (c *curve) last() point { return c.points[len(c.points)-1] }

// estimated returns the hit ratio with memory for this many items, at most as many as at the last point.
func (c *curve) estimated(items float64) float64 {
	next := sort.Search(len(c.points), func(i int) bool { return c.points[i].items > items })
	return c.points[max(0, next-1)].ratio
}

// at returns the hit ratio with memory for this many items, and whether clients used enough keys to know this hit
// ratio.
func (c *curve) at(items float64) (ratio float64, known bool) {
	last := c.last()
	switch {
	case items == c.capacity:
		ratio, known = c.measured, true
	case items <= last.items:
		ratio, known = c.estimated(items)+c.offset, true
	case items < c.capacity:
		ratio = between(last, point{c.capacity, c.measured}, items)
	default:
		ratio = c.beyond(items)
	}
	return min(1, max(0, ratio)), known
}

// beyond returns the hit ratio with memory for more items than at the last point. It continues the curve with the slope
// of its last part, in which the number of items doubles.
func (c *curve) beyond(items float64) float64 {
	end := c.last()
	end.ratio += c.offset
	if end.items < c.capacity {
		end = point{c.capacity, c.measured}
	}
	half, _ := c.at(end.items / 2)
	return end.ratio + max(0, end.ratio-half)*math.Log2(items/end.items)
}

// between interpolates on a logarithmic scale, on which curves of hit ratios are nearly straight.
func between(a, b point, items float64) float64 {
	if a.items <= 0 {
		a.items = 1
	}
	if b.items <= a.items {
		return b.ratio
	}
	return a.ratio + (b.ratio-a.ratio)*math.Log(items/a.items)/math.Log(b.items/a.items)
}
