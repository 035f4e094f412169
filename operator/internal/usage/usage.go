// Package usage is what the agent of a Pod reports about how its memcached is used: how much memory clients would use,
// and with what hit ratio. It is pure.
package usage

import (
	"errors"
	"time"
)

// Path is where an agent reports, on the port of its probes. It watches memcached while there are requests: the first
// answer knows nothing yet.
const Path = "/usage"

// WithoutCurve is the query of a request that needs no curve: then memcached is not watched.
const WithoutCurve = "curve=false"

// Patience is for how long an agent watches memcached after the last request.
const Patience = 10 * time.Minute

// Report is what one memcached was used for. Its clients choose the Pod of a key by a hash, so each Pod is a sample of
// the whole cache.
type Report struct {
	// Pod is the name of the Pod, which the operator adds.
	Pod string `json:"-"`

	// Observed is how long the requests of clients are watched, in seconds, at most a day.
	Observed int64 `json:"observedSeconds"`

	// Memory is what memcached has for items, in bytes.
	Memory int64 `json:"memory"`

	// Evicting: it evicted items in the last five minutes. EvictedAge is then the shortest time for which one of them had
	// not been used, in seconds. Items that an agent copied to it count as used at that time. So items that were last used
	// before the end of a copy, or before the agent started, are left out: EvictingCopied says that there were some.
	Evicting       bool  `json:"evicting,omitempty"`
	EvictedAge     int64 `json:"evictedAgeSeconds,omitempty"`
	EvictingCopied bool  `json:"evictingCopied,omitempty"`

	// Reads are the reads of the last hour, and HitRatio is how many of them found their item.
	Reads    int64   `json:"reads"`
	HitRatio float64 `json:"hitRatio"`

	// RecentReads are the reads of about the last five minutes, and RecentHitRatio is how many of them found their item.
	RecentReads    int64   `json:"recentReads,omitempty"`
	RecentHitRatio float64 `json:"recentHitRatio,omitempty"`

	// Connections are open, that of the agent included.
	Connections int64 `json:"connections,omitempty"`

	// Latency is how long memcached took to answer the agent, in microseconds.
	Latency int64 `json:"latencyMicroseconds,omitempty"`

	// Skipped is the share of the requests that memcached did not log, since there were too many: 0 to 1.
	Skipped float64 `json:"skipped,omitempty"`

	// Curve is what other memories would bring, by ascending ages, up to half of what was observed.
	Curve []Point `json:"curve,omitempty"`
}

// Point is a memory.
type Point struct {
	// Age is for how long an item that is not used stays in that memory, in seconds, at the busiest time that was
	// observed.
	Age int64 `json:"ageSeconds"`

	// Memory is for items, in bytes: memcached's -m.
	Memory int64 `json:"memory"`

	// HitRatio is the expected one of all reads that were observed, those of keys that were never stored included.
	HitRatio float64 `json:"hitRatio"`
}

// mostPoints is far more than a curve has.
const mostPoints = 512

// Check returns an error for a report that no agent makes.
func (r Report) Check() error {
	if r.Observed < 0 || r.Observed > maxSeconds || r.EvictedAge < 0 || r.Reads < 0 || r.Memory < 0 ||
		r.RecentReads < 0 || r.Connections < 0 || r.Latency < 0 ||
		!isShare(r.RecentHitRatio) || !isShare(r.HitRatio) || !isShare(r.Skipped) || len(r.Curve) > mostPoints {
		return errors.New("the report has values that can't be")
	}
	before := Point{}
	for _, point := range r.Curve {
		if point.Age < before.Age || point.Memory < before.Memory || point.Memory > maxBytes || !isShare(point.HitRatio) {
			return errors.New("the curve of the report has values that can't be, or does not rise")
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
