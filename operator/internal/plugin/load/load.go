// Package load computes the load of memcached servers from their statistics. It is pure, except for Take, which reads
// the statistics.
package load

import (
	"context"
	"strconv"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
)

// Sample is the statistics of a server at a time.
type Sample struct {
	At      time.Time
	General map[string]string
	Classes map[string]map[string]string // of items, by slab class
}

// Take reads a sample.
func Take(ctx context.Context, connection *reach.Connection) (Sample, error) {
	general, err := connection.Client.Stats(ctx, "")
	if err != nil {
		return Sample{}, err
	}
	items, err := connection.Client.Stats(ctx, "items")
	return Sample{At: time.Now(), General: general, Classes: exporter.ByClass(items, "items:")}, err
}

// Load is the load of a server. Unknown values are nil.
type Load struct {
	Used        int64 `json:"usedBytes"`
	Limit       int64 `json:"limitBytes"`
	Items       int64 `json:"items"`
	Connections int64 `json:"connections"`

	// HitRatio is the hit ratio since the previous sample, TotalHitRatio the one since the start of memcached.
	HitRatio      *float64 `json:"hitRatio,omitempty"`
	TotalHitRatio *float64 `json:"totalHitRatio,omitempty"`

	// Requests and Evictions are how many requests and evictions there were per second since the previous sample.
	Requests  *float64 `json:"requestsPerSecond,omitempty"`
	Evictions *float64 `json:"evictionsPerSecond,omitempty"`

	// EvictedAge is how many seconds the last evicted item had not been used. Memcached reports this for each slab class.
	// EvictedAge is the smallest value of the slab classes that evicted items since the previous sample or, if none did,
	// since the start of memcached.
	EvictedAge *int64 `json:"evictedAgeSeconds,omitempty"`

	gets, hits, totalGets, totalHits int64
}

// requests are the statistics whose sum is the number of requests. Memcached counts each cas as a set.
var requests = []string{
	"cmd_get", "cmd_set", "cmd_touch",
	"delete_hits", "delete_misses", "incr_hits", "incr_misses", "decr_hits", "decr_misses",
}

// Of computes a load from a sample and the previous one, which may be nil.
func Of(before *Sample, now Sample) Load {
	l := Load{
		Used: now.number("bytes"), Limit: now.number("limit_maxbytes"), Items: now.number("curr_items"),
		Connections: now.number("curr_connections"), totalGets: now.number("cmd_get"), totalHits: now.number("get_hits"),
	}
	if before != nil && before.number("uptime") > now.number("uptime") {
		before = nil // Memcached has restarted.
	}
	l.TotalHitRatio = ratio(l.totalHits, l.totalGets)
	l.EvictedAge = evictedAge(before, now)
	if before == nil {
		return l
	}
	l.gets, l.hits = now.since(*before, "cmd_get"), now.since(*before, "get_hits")
	l.HitRatio = ratio(l.hits, l.gets)
	seconds := now.At.Sub(before.At).Seconds()
	l.Requests = new(float64(now.since(*before, requests...)) / seconds)
	l.Evictions = new(float64(now.since(*before, "evictions")) / seconds)
	return l
}

// Gets returns the number of gets since the previous sample.
func (l Load) Gets() int64 { return l.gets }

// Total is the load of all servers together.
func Total(loads []Load) Load {
	var t Load
	for _, l := range loads {
		t.Used, t.Limit, t.Items, t.Connections = t.Used+l.Used, t.Limit+l.Limit, t.Items+l.Items, t.Connections+l.Connections
		t.gets, t.hits = t.gets+l.gets, t.hits+l.hits
		t.totalGets, t.totalHits = t.totalGets+l.totalGets, t.totalHits+l.totalHits
		t.Requests, t.Evictions = sum(t.Requests, l.Requests), sum(t.Evictions, l.Evictions)
		if l.EvictedAge != nil && (t.EvictedAge == nil || *l.EvictedAge < *t.EvictedAge) {
			t.EvictedAge = l.EvictedAge
		}
	}
	t.HitRatio, t.TotalHitRatio = ratio(t.hits, t.gets), ratio(t.totalHits, t.totalGets)
	return t
}

func sum(a, b *float64) *float64 {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	return new(*a + *b)
}

func ratio(part, whole int64) *float64 {
	if whole <= 0 {
		return nil
	}
	return new(float64(part) / float64(whole))
}

// evictedAge returns the smallest age of the classes that evicted items lately.
func evictedAge(before *Sample, now Sample) *int64 {
	var lately, ever *int64
	for class, stats := range now.Classes {
		evicted, age := number(stats, "evicted"), number(stats, "evicted_time")
		if evicted == 0 {
			continue
		}
		if ever == nil || age < *ever {
			ever = &age
		}
		isNew := before != nil && evicted > number(before.Classes[class], "evicted")
		if isNew && (lately == nil || age < *lately) {
			lately = &age
		}
	}
	if lately != nil {
		return lately
	}
	return ever
}

func (s Sample) number(name string) int64 { return number(s.General, name) }

// since returns by how much the sum of these counters grew since an earlier sample.
func (s Sample) since(before Sample, names ...string) (grown int64) {
	for _, name := range names {
		grown += s.number(name) - before.number(name)
	}
	return grown
}

func number(stats map[string]string, name string) int64 {
	value, _ := strconv.ParseInt(stats[name], 10, 64) // Other versions of memcached may not have all statistics.
	return value
}
