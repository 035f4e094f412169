package app

import (
	"os"
	"runtime/debug"
	"strconv"
)

const (
	// garbage is how much memory may be allocated before a garbage collection, in percent of the live heap. The live
	// heap is a cache that changes little, so collecting twice as often as Go's default costs little.
	garbage = 50

	// ofLimit is how much of the container's limit, in percent, Go may use before it collects garbage as often as
	// possible. The rest is for memory that only the kernel counts.
	ofLimit = 90
)

// BoundMemory keeps the operator's memory small, and below the limit of its container if possible. $GOGC and
// $GOMEMLIMIT take precedence.
func BoundMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	limit, err := strconv.ParseInt(os.Getenv(EnvMemoryLimit), 10, 64)
	if err == nil && limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 100 * ofLimit)
	}
}
