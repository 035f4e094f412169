// Package consistency judges whether what memcached's clients read is consistent with what they wrote. All tests that
// judge this use it: the client of the end-to-end tests, the fault campaign, and the tests of the agent's handoff.
package consistency

import (
	"fmt"
	"sync"
	"time"
)

// Access is a request for a key, with a time before it was sent and a time after it was answered.
type Access struct {
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended"`
	Key   string    `json:"key"`

	// Writes is true if the value was stored, and false if it was read. A deletion stores "", and a read that missed
	// returned "".
	Writes bool   `json:"writes,omitempty"`
	Value  string `json:"value,omitempty"`

	// Stale is for reads: the value that was read may have been overwritten or deleted up to this long before the read.
	Stale time.Duration `json:"stale,omitempty"`

	// Error is the reason why there is no answer. A write without an answer may take effect, even later than Ended, or
	// never.
	Error string `json:"error,omitempty"`
}

// String reads like `get key-3 = "..."`.
func (a Access) String() string {
	verb := "get"
	if a.Writes {
		verb = "set"
	}
	text := fmt.Sprintf("%s %s = %q", verb, a.Key, a.Value)
	if a.Error != "" {
		text += " " + a.Error
	}
	return text
}

// earliest returns the earliest time whose value a read may return.
func (a Access) earliest() time.Time { return a.Began.Add(-a.Stale) }

// History collects the accesses of clients that work at the same time.
type History struct {
	mu       sync.Mutex
	accesses []Access
}

// Add adds an access that has ended.
func (h *History) Add(a Access) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.accesses = append(h.accesses, a)
}

// Accesses returns all accesses once the clients have ended.
func (h *History) Accesses() []Access { return h.accesses }
