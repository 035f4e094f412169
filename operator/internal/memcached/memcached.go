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
		fmt.Sprintf("--conn-limit=%d", s.MaxConnections+ownDescriptors(s.Threads)),
		fmt.Sprintf("--threads=%d", s.Threads),
		fmt.Sprintf("--max-item-size=%d", s.MaxItemSize),
	}
	return append(arguments, s.ExtraArguments...)
}

// ownDescriptors is how many descriptors memcached itself needs, which its --conn-limit counts too: some for each
// worker thread (an eventfd, an epoll instance, pipes), and some for listeners, the log and standard streams, rounded
// up. Measured on 1.6.18 with 1 to 64 threads.
func ownDescriptors(threads int32) int32 {
	return 5*threads + 32
}

// ItemChunk is what memcached keeps large items in: half a slab page. The size of the largest item must be a multiple
// of it, or memcached ends at once (memcached.c, main).
const ItemChunk = Mebibyte / 2

// LargestItem is the most that MaxItemSize may be: memcached ends at once if an item could fill more than half of
// its memory (memcached.c, main).
func LargestItem(itemMemory int64) int64 {
	return itemMemory / 2
}
