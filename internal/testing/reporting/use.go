package reporting

import (
	"encoding/json"
	"math"
)

// Use is how clients use each Pod of a cache: they store new items at a constant rate, and read some of them again.
type Use struct {
	// Hour is how many mebibytes a Pod must have for items so that an unused item stays for an hour.
	Hour int64 `json:"hour"`

	// Observed is how long the agents have watched the requests, in seconds.
	Observed int64 `json:"observed"`
}

// report is the part of an agent's answer that follows from the use.
type report struct {
	Observed       int64   `json:"observedSeconds"`
	Memory         int64   `json:"memory"`
	Evicting       bool    `json:"evicting"`
	EvictedAge     int64   `json:"evictedAgeSeconds"`
	Reads          int64   `json:"reads"`
	HitRatio       float64 `json:"hitRatio"`
	RecentReads    int64   `json:"recentReads"`
	RecentHitRatio float64 `json:"recentHitRatio"`
	Connections    int64   `json:"connections"`
	Latency        int64   `json:"latencyMicroseconds"`
	Curve          []point `json:"curve"`
}

type point struct {
	Age      int64   `json:"ageSeconds"`
	Memory   int64   `json:"memory"`
	HitRatio float64 `json:"hitRatio"`
}

const (
	hour     = 3600
	mebibyte = 1 << 20

	// longest is the time after which an item expires, so no item is evicted later than that.
	longest = 24 * hour
)

// Report returns the report of a Pod whose memcached has this many bytes for items.
func (u Use) Report(memory int64) string {
	age := int64(float64(memory) / float64(u.Hour*mebibyte) * hour)
	found := report{
		Observed: u.Observed, Memory: memory, Evicting: age < longest, EvictedAge: min(age, longest),
		Reads: 100_000, HitRatio: ratio(age), RecentReads: 8_000, RecentHitRatio: ratio(age), Connections: 50, Latency: 90,
	}
	for age := int64(60); age <= u.Observed/2; age *= 2 {
		found.Curve = append(found.Curve, u.point(age))
	}
	if last := u.Observed / 2; len(found.Curve) > 0 && last > found.Curve[len(found.Curve)-1].Age {
		found.Curve = append(found.Curve, u.point(last))
	}
	content, _ := json.Marshal(found)
	return string(content)
}

func (u Use) point(age int64) point {
	return point{Age: age, Memory: u.Hour * mebibyte * age / hour, HitRatio: ratio(age)}
}

// ratio returns the share of the reads that find their item, if an unused item stays for age seconds: nine of ten reads
// if it stays for an hour.
func ratio(age int64) float64 {
	return math.Round(1000-1000/(1+float64(age)/400)) / 1000
}
