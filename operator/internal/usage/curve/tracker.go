// Package curve estimates the effects of other amounts of memory for a memcached, from the requests of its clients: for
// how long each amount keeps items that are not used, and how many reads then find their item. It is pure.
//
// It follows keys whose hash is below a threshold, and lowers the threshold when it follows too many keys (SHARDS:
// Waldspurger et al., FAST '15). Each age has its own threshold: most items were last used long ago. With a single
// threshold, they would leave no room for the items from which the memory for short ages is estimated.
//
// An item stays in an LRU for as long as all items that were used since its last use fit into the memory of the LRU. So
// the memory for an age is that of all items that were used within that time (the working set: Denning, CACM 1968), and
// a read finds its item if the last use of the item is no longer ago than the age that the memory allows at this moment
// (AET: Hu et al., USENIX ATC '16).
package curve

// Counts how long ago the sampled keys were used before, and measures how much memory they take.

import (
	"math"
	"time"
)

// period is how long requests are counted together. The age of an LRU's oldest item changes with the time of the day,
// and with scans and bursts; within a period, it is assumed to be constant.
const period = 15 * time.Minute

// Item is what memcached stores for a key.
type Item struct {
	Size  int // bytes with the key and the header
	Class int // of slabs; 0 if it is unknown
}

// Tracker follows the uses of a sample of the keys. All times are durations since its start, and ascend.
type Tracker struct {
	// Period is how long requests are counted together: 15 minutes by default.
	Period time.Duration

	sample  sample
	periods []*counts
}

// New returns a tracker that follows all keys until they become too many.
func New() *Tracker { return &Tracker{Period: period, sample: newSample()} }

// Follows reports whether a key with this hash is followed.
func (t *Tracker) Follows(hash uint64) bool { return hash <= t.sample.thresholds[0] }

// Requested counts reads of any keys, and how many of them found their item.
func (t *Tracker) Requested(at time.Duration, reads, found int) {
	counts := t.counts(at)
	counts.reads, counts.found = counts.reads+float64(reads), counts.found+float64(found)
}

// Has records how much memory memcached has for items.
func (t *Tracker) Has(at time.Duration, bytes float64) { t.counts(at).has = bytes }

// Read records a read of a followed key.
func (t *Tracker) Read(at time.Duration, hash uint64, found bool, of Item) {
	known, ok := t.sample.items[hash]
	if ok && !found && known.expired(at) {
		t.counts(at).never += t.sample.weight(0)
		delete(t.sample.items, hash)
		return
	}
	since := ageIndex(at)
	if ok {
		since = ageIndex(at - known.used)
	}
	t.count(at, since, hash, known, ok)
	if ok || found {
		t.sample.keep(at, hash, known.readAgain(at, since, found, of))
	}
}

// count counts a read by the time since the last use, as far as it is known.
func (t *Tracker) count(at time.Duration, since int, hash uint64, last item, ok bool) {
	counts, weight := t.counts(at), t.sample.weight(0)
	index := t.sample.followed(hash)
	switch {
	case since >= index && index < len(ages):
		counts.lost[index] += weight
	case !ok:
		counts.first[since] += weight
	case last.gone(at) && since >= int(last.gap):
		counts.never += weight
	case last.gone(at):
		counts.gone[last.gap] += t.sample.weight(int(last.gap))
		fallthrough
	default:
		counts.again[since] += weight
	}
}

// Store records that a key was stored. It expires after ttl, or never if ttl is 0.
func (t *Tracker) Store(at time.Duration, hash uint64, of Item, ttl time.Duration) {
	stored := item{used: at, size: uint32(of.Size), class: uint8(of.Class)}
	if ttl > 0 {
		stored.expires = at + ttl
	}
	t.sample.keep(at, hash, stored.storedAgain(at, t.sample.items[hash]))
}

// Delete records that a key was deleted.
func (t *Tracker) Delete(hash uint64) { delete(t.sample.items, hash) }

// Flush records that all keys were deleted.
func (t *Tracker) Flush() { clear(t.sample.items) }

// counts returns the counts of the current period.
func (t *Tracker) counts(at time.Duration) *counts {
	if last := len(t.periods) - 1; last >= 0 && at < t.periods[last].began+t.Period {
		return t.periods[last]
	}
	next := newCounts(at)
	if last := len(t.periods) - 1; last >= 0 {
		next.has = t.periods[last].has
	}
	t.periods = append(t.periods, next)
	for at-t.periods[0].began > longest {
		t.periods = t.periods[1:]
	}
	return t.periods[len(t.periods)-1]
}

// Snapshot records how much memory is taken by items that were used within each age. Call it every few seconds.
func (t *Tracker) Snapshot(at time.Duration, bytes func(Item) float64) {
	sums, counts, total := t.sample.memory(at, bytes), t.counts(at), 0.
	for index, sum := range sums {
		if total += sum; ages[index] <= at {
			counts.memory[index].add(math.Ceil(total))
		}
	}
}
