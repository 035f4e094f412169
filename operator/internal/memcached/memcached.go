// Package memcached knows what the program memcached itself wants: its arguments and its memory. It knows
// nothing of Kubernetes.
package memcached

import (
	"fmt"
)

// Mebibyte is the unit of memcached's -m.
const Mebibyte = int64(1) << 20

// Settings are what a node is started with.
type Settings struct {
	// ItemMemory is what the node may use for items, in bytes. memcached counts it in mebibytes.
	ItemMemory int64

	// Port is the TCP port that clients use.
	Port int32

	// MaxConnections is the number of clients that may be connected at a time.
	MaxConnections int32

	// Threads is the number of worker threads.
	Threads int32

	// MaxItemSize is the size of the largest item, in bytes.
	MaxItemSize int64

	// ExtraArguments come last. CheckArguments tells which are possible.
	ExtraArguments []string
}

// memcached's own defaults (memcached.c, settings_init, of 1.6).
const (
	DefaultItemMemory     = 64 * Mebibyte
	DefaultMaxConnections = int32(1024)
	DefaultThreads        = int32(4)
	DefaultMaxItemSize    = 1 * Mebibyte
)

// Arguments returns memcached's command line, without the program. There is no --listen: memcached then
// listens on every address family that the Pod has, also in a cluster with IPv6 alone. UDP is off by default
// since 1.5.6.
func Arguments(s Settings) []string {
	arguments := []string{
		fmt.Sprintf("--port=%d", s.Port),
		fmt.Sprintf("--memory-limit=%d", s.ItemMemory/Mebibyte),
		fmt.Sprintf("--conn-limit=%d", s.MaxConnections),
		fmt.Sprintf("--threads=%d", s.Threads),
		fmt.Sprintf("--max-item-size=%d", s.MaxItemSize),
	}
	return append(arguments, s.ExtraArguments...)
}

// LargestItem is the most that MaxItemSize may be: memcached ends at once if an item could fill more than half of
// its memory (memcached.c, main).
func LargestItem(itemMemory int64) int64 {
	return itemMemory / 2
}
