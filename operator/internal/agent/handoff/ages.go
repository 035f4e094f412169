package handoff

// Decides in which order keys are copied.

import (
	"math"
	"slices"
)

const (
	// exactAges is the number of ages that stand for one second each. Each higher age stands for a time that is about 9 %
	// longer than the one before, so that the time doubles after agesPerDoubling ages.
	exactAges       = 64
	agesPerDoubling = 8

	// mostSpans limits the number of spans, because a list is read once for each span. Two neighboring spans together have
	// more than 2/mostSpans of the bytes.
	mostSpans = 16
)

// ageOf returns the age, as a number below 256, of an item that a client last used this number of seconds ago.
func ageOf(seconds int64) byte {
	if seconds < exactAges {
		return byte(max(0, seconds))
	}
	return byte(min(math.MaxUint8, exactAges+agesPerDoubling*math.Log2(float64(seconds)/exactAges)))
}

// age returns for how many seconds no client used the item. The result is rough, because memcached records the uses of
// an item only now and then, and those of the hottest items the least often. Memcached also records the storing of an
// item as a use. So for an item that no client has read since it was stored, the result is much higher than the time
// since then.
func (d dumped) age(now int64) int64 {
	const atLeast, times = 60, 8
	if d.read {
		return now - d.used
	}
	return atLeast + times*(now-d.used)
}

// ages has the number of keys of each age and slab class. For an age without keys it has nil.
type ages [math.MaxUint8 + 1][]int64

func (a *ages) add(age, class byte) {
	if a[age] == nil {
		a[age] = make([]int64, len(chunks))
	}
	a[age][class]++
}

// keys returns how many keys have an age in a range.
func (a *ages) keys(from, to byte) (keys int64) {
	for _, classes := range a[from : int(to)+1] {
		for _, count := range classes {
			keys += count
		}
	}
	return keys
}

// bytes returns about how many bytes the keys with an age in a range have, together with their values.
func (a *ages) bytes(from, to byte) (bytes int64) {
	for _, classes := range a[from : int(to)+1] {
		for class, count := range classes {
			bytes += count * payload(byte(class))
		}
	}
	return bytes
}

// span has keys with an age in a range, from and to included. Of all keys with these ages, in the order of the list, it
// has those from next up to end.
type span struct {
	from, to  byte
	next, end int64 // the first key that is not copied yet, and the one after the last that is to be copied
	spare     bool  // it is not certain that the new memcacheds have room for the keys
}

// all returns a span of all keys.
func all() *span { return &span{to: math.MaxUint8, end: math.MaxInt64} }

func (s *span) has(age byte) bool { return s.from <= age && age <= s.to }

func (s *span) left() int64 { return s.end - s.next }

// coldestFirst returns the spans of all keys, those of the coldest keys first.
func (s *spool) coldestFirst() []*span {
	spans := s.hottest(everything())
	slices.Reverse(spans)
	return spans
}

// hottest returns the spans of the hottest keys for which there may be room, the hottest first. Spans that surely fit
// come before spans that are spare. A span has at most 2/mostSpans of the bytes, unless all its keys have the same age.
func (s *spool) hottest(r room) []*span {
	age, keys, isAll := s.fitting(r)
	if isAll {
		return s.spans(0, math.MaxUint8, false)
	}
	spans := append(s.spans(0, int(age)-1, false),
		&span{from: age, to: age, end: keys},
		&span{from: age, to: age, next: keys, end: s.ages.keys(age, age), spare: true})
	return append(spans, s.spans(int(age)+1, s.oldest(r), true)...)
}

// spans divides a range of ages into spans.
func (s *spool) spans(from, to int, spare bool) (spans []*span) {
	if from > to {
		return nil
	}
	first, bytes, most := byte(from), int64(0), s.ages.bytes(0, math.MaxUint8)*2/mostSpans
	add := func(to byte) {
		if keys := s.ages.keys(first, to); keys > 0 {
			spans = append(spans, &span{from: first, to: to, end: keys, spare: spare})
		}
	}
	for age := from; age <= to; age++ {
		of := s.ages.bytes(byte(age), byte(age))
		if bytes > 0 && bytes+of > most {
			add(byte(age - 1))
			first, bytes = byte(age), 0
		}
		bytes += of
	}
	add(byte(to))
	return spans
}

// oldest returns the age up to which keys have as many bytes as the new memcacheds have memory. These may be more keys
// than surely fit. If they do not fit, memcached evicts the coldest of them, because these were copied first.
func (s *spool) oldest(r room) int {
	bytes := 0.0
	for age := range s.ages {
		at := byte(age)
		bytes += float64(s.ages.bytes(at, at) + ofHeader*s.ages.keys(at, at))
		if !r.larger && bytes >= r.pages*page {
			return age
		}
	}
	return math.MaxUint8
}

// fitting returns the age up to which keys surely fit, and how many keys of that age do. isAll is true if all keys fit.
func (s *spool) fitting(r room) (age byte, keys int64, isAll bool) {
	most := r.sure()
	sum, before := make([]int64, len(chunks)), 0.0
	for age := range s.ages {
		if s.ages[age] == nil {
			continue
		}
		need := 0.0
		for class, count := range s.ages[age] {
			sum[class] += count
			need += r.need(class, sum[class])
		}
		if need > most {
			part := max(0, most-before) / (need - before)
			return byte(age), int64(part * float64(s.ages.keys(byte(age), byte(age)))), false
		}
		before = need
	}
	return math.MaxUint8, 0, true
}
