// Package usage has the report of a Pod's agent on the use of its memcached: how much memory clients would use, and
// with what hit ratio. It is pure.
package usage

import (
	"errors"
	"time"
)

// Path is the path at which an agent reports, on the port of its probes. The agent watches memcached only while it gets
// requests for reports, so its first answer has no observations yet.
const Path = "/usage"

// WithoutCurve is the query of a request that needs no curve: the agent does not watch memcached because of such
// requests.
const WithoutCurve = "curve=false"

// Patience is how long an agent watches memcached after the last request.
const Patience = 10 * time.Minute

// Report is how one memcached was used. Its clients choose the Pod of a key by a hash, so each Pod is a sample of the
// whole cache.
type Report struct {
	// Pod is the name of the Pod, which the operator adds.
	Pod string `json:"-"`

	// Observed is how long the requests of clients have been watched, in seconds, and at most a day.
	Observed int64 `json:"observedSeconds"`

	// Memory is the memory that memcached has for items, in bytes.
	Memory int64 `json:"memory"`

	// Evicting: memcached evicted items in the last five minutes. EvictedAge is then the shortest time for which an
	// evicted item had not been used, in seconds. Items that an agent copied to memcached count as used when they were
	// copied. So items that were last used before the end of a copy, or before the agent started, are left out.
	// EvictingCopied says that there were such items.
	Evicting       bool  `json:"evicting,omitempty"`
	EvictedAge     int64 `json:"evictedAgeSeconds,omitempty"`
	EvictingCopied bool  `json:"evictingCopied,omitempty"`

	// Reads is the number of reads in the last hour, and HitRatio is the part of them that found their item.
	Reads    int64   `json:"reads"`
	HitRatio float64 `json:"hitRatio"`

	// RecentReads is the number of reads in about the last five minutes, and RecentHitRatio is the part of them that
	// found their item.
	RecentReads    int64   `json:"recentReads,omitempty"`
	RecentHitRatio float64 `json:"recentHitRatio,omitempty"`

	// Connections is the number of open connections, including the agent's.
	Connections int64 `json:"connections,omitempty"`

	// Latency is how long memcached took to answer the agent, in microseconds.
	Latency int64 `json:"latencyMicroseconds,omitempty"`

	// Skipped is the part of the requests that memcached did not log, because there were too many: from 0 to 1.
	Skipped float64 `json:"skipped,omitempty"`

	// Curve has the hit ratios of other amounts of memory, in ascending order of ages, up to half of the time of
	// observation.
	Curve []Point `json:"curve,omitempty"`
}

// Point is an amount of memory, and its effects.
type Point struct {
	// Age is how long an unused item stays in that memory, in seconds, at the busiest time that was observed.
	Age int64 `json:"ageSeconds"`

	// Memory is the memory for items, in bytes: memcached's -m.
	Memory int64 `json:"memory"`

	// HitRatio is the expected hit ratio of all observed reads, including those of keys that were never stored.
	HitRatio float64 `json:"hitRatio"`
}

// mostPoints limits the points of a curve. It is far more than a curve has.
const mostPoints = 512

// Check returns an error for a report that no agent could make.
func (r Report) Check() error {
	if r.Observed < 0 || r.Observed > maxSeconds || r.EvictedAge < 0 || r.Reads < 0 || r.Memory < 0 ||
		r.RecentReads < 0 || r.Connections < 0 || r.Latency < 0 ||
		!isShare(r.RecentHitRatio) || !isShare(r.HitRatio) || !isShare(r.Skipped) || len(r.Curve) > mostPoints {
		return errors.New("the report has impossible values")
	}
	before := Point{}
	for _, point := range r.Curve {
		if point.Age < before.Age || point.Memory < before.Memory || point.Memory > maxBytes || !isShare(point.HitRatio) {
			return errors.New("the curve of the report has impossible values, or does not rise")
		}
		before = point
	}
	return nil
}

const (
	maxSeconds = 1 << 32
	maxBytes   = 1 << 50
)

func isShare(value float64) bool { return value >= 0 && value <= 1 }
