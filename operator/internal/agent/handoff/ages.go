package handoff

// In which order keys are copied.

import (
	"math"
	"slices"
)

// ages has a figure for each age that is distinguished from others.
type ages [math.MaxUint8 + 1]int64

const (
	// exactAges are distinguished by the second, and older ones by a twelfth: agesPerDoubling of them.
	exactAges       = 64
	agesPerDoubling = 8

	// mostSpans limits how often a list is read: two neighbors have more than their part of the keys together.
	mostSpans = 16
)

// ageOf returns the place in ages of so many seconds since a client last used an item.
func ageOf(seconds int64) byte {
	if seconds < exactAges {
		return byte(max(0, seconds))
	}
	return byte(min(math.MaxUint8, exactAges+agesPerDoubling*math.Log2(float64(seconds)/exactAges)))
}

// age returns for how many seconds nobody used the item. Memcached notes a use only now and then, of the hottest items
// the least often, and takes the time at which an item is stored for a use. So one that nobody has read since counts as
// much older.
func (d dumped) age(now int64) int64 {
	const atLeast, times = 60, 8
	if d.read {
		return now - d.used
	}
	return atLeast + times*(now-d.used)
}

// span is a range of ages, both included.
type span struct{ from, to byte }

// all has every age.
var all = span{0, math.MaxUint8}

func (s span) has(age byte) bool { return s.from <= age && age <= s.to }

// coldestFirst returns the spans of all keys.
func (s *spool) coldestFirst() []span {
	spans := s.hottest(1)
	slices.Reverse(spans)
	return spans
}

// hottest returns the spans of the hottest keys that have a share of the bytes, the hottest first; 1 or more is all.
// None has more keys than its part, unless these are of one age.
func (s *spool) hottest(share float64) (spans []span) {
	counts := s.keys[:int(s.oldest(share))+1]
	keys := int64(0)
	for _, count := range counts {
		keys += count
	}
	from, inSpan := 0, int64(0)
	for age, count := range counts {
		if inSpan > 0 && inSpan+count > keys*2/mostSpans {
			spans = append(spans, span{byte(from), byte(age - 1)})
			from, inSpan = age, 0
		}
		inSpan += count
	}
	return append(spans, span{byte(from), byte(len(counts) - 1)})
}

// oldest returns the age up to which keys have a share of the bytes.
func (s *spool) oldest(share float64) byte {
	total, sum := int64(0), int64(0)
	for _, size := range s.size {
		total += size
	}
	for age, size := range s.size {
		if sum += size; share < 1 && float64(sum) >= share*float64(total) {
			return byte(age)
		}
	}
	return math.MaxUint8
}

// left returns how many keys are in none of these spans.
func (s *spool) left(spans []span) (keys int64) {
	for age, count := range s.keys {
		if !slices.ContainsFunc(spans, func(of span) bool { return of.has(byte(age)) }) {
			keys += count
		}
	}
	return keys
}
