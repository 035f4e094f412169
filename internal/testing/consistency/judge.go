package consistency

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// Violation is the first read of a key that no order of the writes explains.
type Violation struct {
	Read Access

	// Since is the last write that the read had to see. If Since has no key, there is no such write.
	Since Access
}

// String reads like `get key-3 = "1", but "2" was stored 120ms before`.
func (v Violation) String() string {
	if v.Since.Key == "" {
		return fmt.Sprintf("%s, a value that no client stored", v.Read)
	}
	return fmt.Sprintf("%s, but %q was stored %s before", v.Read, v.Since.Value, v.Read.Began.Sub(v.Since.Ended))
}

// patience is how long the judgment of one key may take. Normally it takes milliseconds.
const patience = time.Minute

// Judge returns the violations, at most one for each key, the earliest first. No two writes of a key may store the same
// value, except deletions. A key is right if its accesses are linearizable: each write happens at one time between its
// beginning and its answer, and each read returns the value that the key had at a time between the beginning of the
// read, minus Stale, and its answer. A miss is always right: memcached may evict any key.
func Judge(accesses []Access) (violations []Violation, err error) {
	for _, key := range byKey(accesses) {
		switch possible, err := isPossible(key); {
		case err != nil:
			return nil, err
		case !possible:
			violations = append(violations, firstViolation(key))
		}
	}
	slices.SortFunc(violations, func(a, b Violation) int { return a.Read.Ended.Compare(b.Read.Ended) })
	return violations, nil
}

// Oldest returns the longest time by which a read came after its value had been overwritten or deleted, rounded up to
// milliseconds. If all reads had this time as their Stale, all keys would be right, and no shorter Stale suffices.
// Oldest returns no time longer than most.
func Oldest(accesses []Access, most time.Duration) (oldest time.Duration, err error) {
	for _, key := range byKey(accesses) {
		enough := func(milliseconds int) bool {
			for i := range key {
				key[i].Stale = time.Duration(milliseconds) * time.Millisecond
			}
			possible, err2 := isPossible(key)
			err = cmp.Or(err, err2)
			return possible
		}
		if !enough(int(oldest.Milliseconds())) {
			oldest = time.Duration(sort.Search(int(most.Milliseconds()), enough)) * time.Millisecond
		}
	}
	return oldest, err
}

// byKey returns the accesses to each key, without reads that failed or missed.
func byKey(accesses []Access) [][]Access {
	keys := map[string][]Access{}
	for _, a := range accesses {
		if a.Writes || a.Error == "" && a.Value != "" {
			keys[a.Key] = append(keys[a.Key], a)
		}
	}
	return slices.Collect(maps.Values(keys))
}

// register is one key as porcupine sees it. Since no two writes store the same value, a value can't be overwritten
// before all its reads have happened. So porcupine need not try most orders of concurrent requests.
var register = porcupine.Model{
	Init: func() any { return write{} },
	Step: func(state, input, output any) (bool, any) {
		current := state.(write)
		if next, isWrite := input.(write); isWrite {
			return current.reads == 0, next
		}
		current.reads--
		return current.value == output, current
	},
}

// write stores a value, and says how many reads must happen before the value is overwritten.
type write struct {
	value string
	reads int
}

// isPossible reports whether the accesses to one key are linearizable.
func isPossible(accesses []Access) (bool, error) {
	switch porcupine.CheckOperationsTimeout(register, operations(accesses), patience) {
	case porcupine.Ok:
		return true, nil
	case porcupine.Illegal:
		return false, nil
	default:
		return false, fmt.Errorf("%s has too many concurrent requests to be judged in %s", accesses[0].Key, patience)
	}
}

// operations returns the accesses to one key that decide whether all its accesses are right.
func operations(accesses []Access) (all []porcupine.Operation) {
	began := accesses[0].Began
	add := func(input, output any, call, end time.Time) {
		since := func(t time.Time) int64 { return t.Sub(began).Nanoseconds() } // by the monotonic clock
		all = append(all, porcupine.Operation{Input: input, Output: output, Call: since(call), Return: since(end)})
	}
	first, last := decisive(accesses)
	for value, a := range first {
		add(nil, value, a.earliest(), a.Ended)
		add(nil, value, last[value].earliest(), last[value].Ended)
	}
	for _, a := range accesses {
		_, isRead := first[a.Value]
		next := write{value: a.Value}
		if isRead {
			next.reads = 2
		}
		switch {
		case a.Writes && a.Error == "":
			add(next, nil, a.Began, a.Ended)
		case a.Writes && isRead: // If no read returned its value, the write may not have happened.
			add(next, nil, a.Began, began.Add(math.MaxInt64))
		}
	}
	return all
}

// decisive returns two reads of each value: the read that ended first, because the value must have been stored before
// that end, and the read that began last, because the value must not have been overwritten before that beginning. If
// these two reads are right, all other reads of the value are.
func decisive(accesses []Access) (first, last map[string]Access) {
	first, last = map[string]Access{}, map[string]Access{}
	for _, a := range accesses {
		if a.Writes {
			continue
		}
		if f, known := first[a.Value]; !known || a.Ended.Before(f.Ended) {
			first[a.Value] = a
		}
		if l, known := last[a.Value]; !known || a.earliest().After(l.earliest()) {
			last[a.Value] = a
		}
	}
	return first, last
}

// firstViolation returns the first read whose answer shows that the accesses to one key are not linearizable.
func firstViolation(accesses []Access) (v Violation) {
	reads := slices.DeleteFunc(slices.Clone(accesses), func(a Access) bool { return a.Writes })
	slices.SortFunc(reads, func(a, b Access) int { return a.Ended.Compare(b.Ended) })
	first := sort.Search(len(reads)-1, func(i int) bool {
		possible, _ := isPossible(until(reads[i].Ended, accesses))
		return !possible
	})
	v.Read = reads[first]
	for _, a := range accesses {
		if a.Writes && a.Error == "" && a.Ended.Before(v.Read.earliest()) && a.Ended.After(v.Since.Ended) {
			v.Since = a
		}
	}
	return v
}

// until returns the accesses to one key as the clients knew them at a time: without reads that were not answered by
// then.
func until(at time.Time, accesses []Access) (known []Access) {
	for _, a := range accesses {
		isOpen := a.Ended.After(at)
		if isOpen {
			a.Error = "not yet answered"
		}
		if !a.Began.After(at) && (a.Writes || !isOpen) {
			known = append(known, a)
		}
	}
	return known
}
