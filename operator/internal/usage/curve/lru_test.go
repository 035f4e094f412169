package curve

// An exact LRU of bytes, and the requests of clients.

import (
	"math"
	"math/rand/v2"
	"time"
)

// request is a read of a key; if it finds nothing, the client stores the item.
type request struct {
	at  time.Duration
	key int32
}

// trace has the requests of clients. The size and the time to live of an item depend only on its key.
type trace struct {
	requests []request
	keys     int
	size     func(key int32) int
	ttl      func(key int32) time.Duration // nil: none
}

// lru is a memcached as it is described in textbooks.
type lru struct {
	trace  *trace
	memory int
	free   int
	items  []node // by key; the last is the head of the list

	youngest time.Duration // the shortest age of an item that was evicted since measured
	measured time.Duration
	hits     int
	reads    int

	expiring [][]int32 // keys, by the minute
	minute   int
}

type node struct {
	newer, older  int32
	used, expires time.Duration
	present       bool
}

func newLRU(of *trace, memory int, measured time.Duration) *lru {
	l := &lru{
		trace: of, memory: memory, free: memory, items: make([]node, of.keys+1), youngest: math.MaxInt64, measured: measured,
	}
	l.items[of.keys] = node{newer: int32(of.keys), older: int32(of.keys)}
	return l
}

// run calls a function for each request, with whether the request found its item.
func (l *lru) run(each func(r request, found bool)) {
	for _, r := range l.trace.requests {
		found := l.read(r)
		if r.at >= l.measured {
			l.reads++
			if found {
				l.hits++
			}
		}
		if each != nil {
			each(r, found)
		}
	}
}

func (l *lru) hitRatio() float64 { return float64(l.hits) / float64(l.reads) }

// read reads a key, and stores it if it is not found.
func (l *lru) read(r request) (found bool) {
	l.expire(r.at)
	item := &l.items[r.key]
	found = item.present && (item.expires == 0 || r.at < item.expires)
	if item.present {
		l.remove(r.key)
	}
	if !found {
		item.expires = 0
		if l.trace.ttl != nil {
			item.expires = r.at + l.trace.ttl(r.key)
			l.expiresAt(r.key, item.expires)
		}
	}
	for l.free -= l.trace.size(r.key); l.free < 0; {
		l.evict(r.at)
	}
	head := int32(l.trace.keys)
	*item = node{newer: head, older: l.items[head].older, used: r.at, expires: item.expires, present: true}
	l.items[item.older].newer = r.key
	l.items[head].older = r.key
	return found
}

func (l *lru) evict(at time.Duration) {
	oldest := l.items[l.trace.keys].newer
	item := l.items[oldest]
	l.remove(oldest)
	if at >= l.measured && (item.expires == 0 || at < item.expires) {
		l.youngest = min(l.youngest, at-item.used)
	}
}

func (l *lru) expiresAt(key int32, at time.Duration) {
	minute := int(at / time.Minute)
	for len(l.expiring) <= minute {
		l.expiring = append(l.expiring, nil)
	}
	l.expiring[minute] = append(l.expiring[minute], key)
}

// expire removes expired items, as memcached's crawler does.
func (l *lru) expire(at time.Duration) {
	for ; l.minute < int(at/time.Minute) && l.minute < len(l.expiring); l.minute++ {
		for _, key := range l.expiring[l.minute] {
			if item := l.items[key]; item.present && item.expires <= at {
				l.remove(key)
			}
		}
	}
}

func (l *lru) remove(key int32) {
	item := &l.items[key]
	l.items[item.newer].older, l.items[item.older].newer = item.older, item.newer
	item.present = false
	l.free += l.trace.size(key)
}

// zipf draws keys by their rank, with any exponent.
type zipf struct{ cumulated []float64 }

func newZipf(keys int, exponent float64) zipf {
	z, total := zipf{make([]float64, keys)}, 0.
	for i := range z.cumulated {
		total += math.Pow(float64(i+1), -exponent)
		z.cumulated[i] = total
	}
	return z
}

func (z zipf) draw(random *rand.Rand) int32 {
	aim, low, high := random.Float64()*z.cumulated[len(z.cumulated)-1], 0, len(z.cumulated)-1
	for low < high {
		if middle := (low + high) / 2; z.cumulated[middle] < aim {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return int32(low)
}
