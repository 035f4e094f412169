package app

import (
	"os"
	"runtime/debug"
	"strconv"
)

const (
	// garbage is how much of it may gather before it is collected, in percent of what is in use. What is in use is a
	// cache that changes little, so collecting twice as often as Go does costs little.
	garbage = 50

	// ofLimit is how much of the limit, in percent, Go may take before it collects as often as it can. The rest is for
	// what the kernel counts besides.
	ofLimit = 90
)

// BoundMemory keeps the operator small, and below the limit of its container as long as that can be. What $GOGC and
// $GOMEMLIMIT say wins.
func BoundMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	limit, err := strconv.ParseInt(os.Getenv(EnvMemoryLimit), 10, 64)
	if err == nil && limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 100 * ofLimit)
	}
}
