package curve

// The items that are followed, and which of them are forgotten once they are too many.

import (
	"math"
	"sort"
	"time"
)

const (
	// most is how many keys are followed at most. They take less than 2 MiB.
	most = 24 << 10

	// enough is how many keys stay when there are too many.
	enough = most * 7 / 8
)

// item is an item that an unlimited memcached would have.
type item struct {
	used    time.Duration
	expires time.Duration // 0 if it never does
	size    uint32
	class   uint8

	// In a memory where items stay for the age with the index gap, the last store of this item would not have happened,
	// because the read before that store would have found the item. In such a memory, the item expires at the time that
	// the field before has.
	before time.Duration // 0 if it does not
	gap    uint8

	missed uint8 // 1 + the index of the age at which the last read found nothing; 0 if it found the item
}

// readAgain returns an item after a read. since is the index of its age at the read, which is the time since its last
// use.
func (i item) readAgain(at time.Duration, since int, found bool, of Item) item {
	if i.expired(at) {
		i.expires = 0 // A client must have changed its expiry, which memcached does not log.
	}
	if i.gone(at) {
		i.before, i.gap = 0, 0
	}
	i.used, i.missed = at, uint8(since+1)
	if found {
		i.size, i.class, i.missed = uint32(of.Size), uint8(of.Class), 0
	}
	return i
}

// storedAgain returns an item that was stored over another one.
func (i item) storedAgain(at time.Duration, over item) item {
	if over.missed == 0 || over.expired(at) {
		return i
	}
	i.before, i.gap = over.expires, over.missed-1
	if over.before > at {
		i.before, i.gap = over.before, max(i.gap, over.gap)
	}
	return i
}

// gone reports whether the item would have expired by now if items stayed for the age of its gap.
func (i item) gone(at time.Duration) bool { return i.before > 0 && i.before <= at }

func (i item) expired(at time.Duration) bool { return i.expires > 0 && i.expires <= at }

// sample has the items that are followed, by the hash of their key.
type sample struct {
	items map[uint64]item

	// thresholds are the highest hashes of keys that are followed, by the age for which the keys were not used. The
	// thresholds of longer ages are lower.
	thresholds []uint64
}

func newSample() sample {
	s := sample{items: map[uint64]item{}, thresholds: make([]uint64, len(ages))}
	for i := range s.thresholds {
		s.thresholds[i] = math.MaxUint64
	}
	return s
}

// weight returns how many items of an age each followed item represents.
func (s *sample) weight(index int) float64 { return math.MaxUint64 / float64(s.thresholds[index]) }

// followed returns the index of the age from which on a key is not followed; len(ages) if it is always followed.
func (s *sample) followed(hash uint64) int {
	if hash <= s.thresholds[len(ages)-1] {
		return len(ages)
	}
	return sort.Search(len(ages), func(i int) bool { return hash > s.thresholds[i] })
}

func (s *sample) keep(at time.Duration, hash uint64, of item) {
	s.items[hash] = of
	if len(s.items) > most {
		s.fit(at)
	}
}

// fit lowers the thresholds of the ages with most items, so that all ages have about the same number of items.
func (s *sample) fit(at time.Duration) {
	s.trim(at)
	counts := make([]int, len(ages))
	for _, i := range s.items {
		counts[ageIndex(at-i.used)]++
	}
	each := sort.Search(enough, func(each int) bool { return limited(counts, each+1) > enough })
	for index, count := range counts {
		if count > each {
			s.thresholds[index] = uint64(float64(s.thresholds[index]) * float64(each) / float64(count))
		}
		s.thresholds[index] = min(s.thresholds[index], s.thresholds[max(0, index-1)])
	}
	s.trim(at)
}

// limited returns the sum of counts, of which each counts up to a limit.
func limited(counts []int, limit int) (sum int) {
	for _, count := range counts {
		sum += min(count, limit)
	}
	return sum
}

// trim forgets items that have expired, and those that are not followed any more.
func (s *sample) trim(at time.Duration) {
	for hash, i := range s.items {
		if s.forgets(at, hash, i, ageIndex(at-i.used)) {
			delete(s.items, hash)
		}
	}
}

func (s *sample) forgets(at time.Duration, hash uint64, i item, index int) bool {
	return i.expired(at) || index == len(ages) || hash > s.thresholds[index]
}

// memory returns how much memory the items of each age take, including items that are not followed.
func (s *sample) memory(at time.Duration, bytes func(Item) float64) []float64 {
	sums := make([]float64, len(ages))
	for hash, i := range s.items {
		index := ageIndex(at - i.used)
		if s.forgets(at, hash, i, index) {
			delete(s.items, hash)
			continue
		}
		takes := bytes(Item{Size: int(i.size), Class: int(i.class)}) * s.weight(index)
		sums[index] += takes
		if i.gone(at) {
			sums[max(index, int(i.gap))] -= takes
		}
	}
	return sums
}
