package clients

import (
	"bytes"
	"encoding/json"
	"time"
)

// Seen is what a program saw in a second, or in all seconds of a phase.
type Seen struct {
	At      float64 // Unix time of the end
	Reads   int
	Misses  int
	Errors  int
	Wrong   int // reads of other values than were stored
	Longest int // milliseconds of the longest request
	Error   string

	Start   bool   // whether this is the first second, in which the program stores the keys
	Version string // of the library; empty unless Start is set
}

// Parse reads what a program printed. Libraries print other lines, too.
func Parse(output []byte) (lines []Seen) {
	for line := range bytes.Lines(output) {
		seen := Seen{}
		if json.Unmarshal(line, &seen) == nil && seen.At > 0 {
			lines = append(lines, seen)
		}
	}
	return lines
}

// Phase is a change to the cache.
type Phase struct {
	Name         string
	Began, Ended time.Time // at the end, the clients did not notice the change any more
}

// Of sums up what a program saw in the phase.
func (p Phase) Of(lines []Seen) (sum Seen) {
	for _, line := range lines {
		if line.Start || line.At < unix(p.Began) || line.At > unix(p.Ended) {
			continue
		}
		sum.Reads += line.Reads
		sum.Misses += line.Misses
		sum.Errors += line.Errors
		sum.Wrong += line.Wrong
		sum.Longest = max(sum.Longest, line.Longest)
		if line.Error != "" {
			sum.Error = line.Error
		}
	}
	return sum
}

// quiet is how many seconds without an error show that a client has recovered.
const quiet = 3

// Recovered reports whether a client has read without errors in each of its last seconds (as many as quiet says), and
// all of these seconds ended after since.
func Recovered(lines []Seen, since time.Time) bool {
	if len(lines) < quiet {
		return false
	}
	for _, line := range lines[len(lines)-quiet:] {
		if line.At < unix(since) || line.Errors > 0 || line.Reads == 0 {
			return false
		}
	}
	return true
}

func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
