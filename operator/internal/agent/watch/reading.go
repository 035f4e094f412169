package watch

// Compares memcached's statistics with earlier ones.

import (
	"math"
	"strconv"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

const (
	// recent is for how long an eviction counts, and counted for how long a read counts. lately is for how long a read
	// counts as recent. lately is longer than recent, so that there is an earlier reading to compare with, even if the
	// operator requests a report only every five minutes.
	recent  = 5 * time.Minute
	counted = time.Hour
	lately  = recent + time.Minute

	// apart is the least time between two readings that are kept.
	apart = 30 * time.Second

	// tick is the precision of memcached's times.
	tick = time.Second
)

// reading has the statistics of memcached at a time.
type reading struct {
	at                           time.Time
	latency, connections         int64 // latency is how long an answer took, in microseconds
	process                      string
	memory, hits, reads, flushes int64
	evicted                      map[string]eviction // by class
	youngest                     int64               // least age of items evicted since the previous reading; -1 if none
	copied                       time.Time           // when keys were last copied to it
	evictsCopied                 bool                // it has evicted copied items since the previous reading
	layout                       layout
}

type eviction struct{ count, age int64 }

func newReading(at time.Time, general, items, slabs map[string]string) reading {
	number := func(stats map[string]string, name string) int64 {
		value, _ := strconv.ParseInt(stats[name], 10, 64)
		return value
	}
	r := reading{
		at: at, process: general["pid"], memory: number(general, "limit_maxbytes"), hits: number(general, "get_hits"),
		flushes: number(general, "cmd_flush"), connections: number(general, "curr_connections"),
		evicted: map[string]eviction{}, youngest: -1, layout: newLayout(slabs),
	}
	r.reads = r.hits + number(general, "get_misses")
	for class, stats := range exporter.ByClass(items, "items:") {
		r.evicted[class] = eviction{number(stats, "evicted"), number(stats, "evicted_time")}
	}
	return r
}

// follows reports whether both readings are of the same process, and its counters were not reset in between.
func (r reading) follows(before reading) bool {
	return r.process == before.process && r.reads >= before.reads && r.hits >= before.hits
}

// since finds the youngest item that was evicted since an earlier reading, if memcached had the same memory then. A
// copied item counts as used when it was copied, so the age of items that were last used before the end of the copy is
// unknown.
func (r *reading) since(before reading) {
	if r.memory != before.memory {
		return
	}
	least := int64(math.MaxInt64)
	for class, now := range r.evicted {
		switch {
		case now.count <= before.evicted[class].count:
		case before.at.Add(-time.Duration(now.age)*time.Second - tick).After(r.copied): // It was last used after the copy.
			least = min(least, now.age)
		default:
			r.evictsCopied = true
		}
	}
	if least < math.MaxInt64 {
		r.youngest = least
	}
}

// readsSince returns how many reads there were since a reading, and which part of them found their item.
func (r reading) readsSince(before reading) (reads int64, hitRatio float64) {
	if reads = r.reads - before.reads; reads == 0 {
		return 0, 0
	}
	return reads, float64(r.hits-before.hits) / float64(reads)
}

// lately returns the first reading of about the last five minutes. If there is no earlier reading in this time, for
// example after a restart of the operator, it returns the last reading before this time.
func (h *history) lately(now reading) reading {
	before := h.readings[:len(h.readings)-1]
	for _, r := range before {
		if now.at.Sub(r.at) < lately {
			return r
		}
	}
	if last := len(before) - 1; last >= 0 && now.at.Sub(before[last].at) < usage.Patience*2 {
		return before[last]
	}
	return now
}

// history has the readings of the last hour, the oldest first.
type history struct{ readings []reading }

// add adds a reading, and returns a report with the changes.
func (h *history) add(now reading) usage.Report {
	if last := len(h.readings) - 1; last >= 0 && !now.follows(h.readings[last]) {
		h.readings = nil
	}
	// If readings follow one another faster than apart, each replaces the previous one, so that only a few are kept.
	if last := len(h.readings) - 1; last >= 1 && now.at.Sub(h.readings[last-1].at) < apart {
		h.readings = h.readings[:last]
	}
	if last := len(h.readings) - 1; last >= 0 {
		now.since(h.readings[last])
	}
	h.readings = append(h.readings, now)
	for len(h.readings) > 2 && now.at.Sub(h.readings[1].at) >= counted {
		h.readings = h.readings[1:]
	}
	return h.report(now)
}

func (h *history) report(now reading) usage.Report {
	first := h.readings[0]
	answer := usage.Report{Memory: now.memory, Connections: now.connections, Latency: now.latency}
	answer.Reads, answer.HitRatio = now.readsSince(first)
	answer.RecentReads, answer.RecentHitRatio = now.readsSince(h.lately(now))
	for _, r := range h.readings {
		if r.memory != now.memory || now.at.Sub(r.at) >= recent {
			continue
		}
		answer.EvictingCopied = answer.EvictingCopied || r.evictsCopied
		if r.youngest >= 0 && (!answer.Evicting || r.youngest < answer.EvictedAge) {
			answer.Evicting, answer.EvictedAge = true, r.youngest
		}
	}
	return answer
}
