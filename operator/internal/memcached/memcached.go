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
}

// memcached's own defaults (memcached.c, settings_init, of 1.6).
const (
	DefaultItemMemory     = 64 * Mebibyte
	DefaultMaxConnections = int32(1024)
	DefaultThreads        = int32(4)
)

// Arguments returns memcached's command line, without the program. There is no --listen: memcached then
// listens on every address family that the Pod has, also in a cluster with IPv6 alone. UDP is off by default
// since 1.5.6.
func Arguments(s Settings) []string {
	return []string{
		fmt.Sprintf("--port=%d", s.Port),
		fmt.Sprintf("--memory-limit=%d", s.ItemMemory/Mebibyte),
		fmt.Sprintf("--conn-limit=%d", s.MaxConnections),
		fmt.Sprintf("--threads=%d", s.Threads),
	}
}

// What a node needs beside its items, each from memcached's source of 1.6.
const (
	// baseMemory: code, libraries, logger and LRU threads, the allocator's arenas, and the one page of a
	// mebibyte that slabs.c may give a slab class beyond -m.
	baseMemory = 24 * Mebibyte

	// connectionMemory: a conn structure, its read buffer (16 KiB, READ_BUFFER_SIZE) and the response
	// objects that go with it, rounded up, with the kernel's socket buffers at rest.
	connectionMemory = int64(24) << 10

	// threadMemory: a thread's stack as far as it is touched, its caches of buffers and its LRU bump buffer.
	threadMemory = 2 * Mebibyte

	// overheadPercent: hash table (8 bytes a bucket, assoc.c, doubled while it grows) and what slab classes
	// leave unused, as part of the item memory.
	overheadPercent = 8
)

// ContainerMemory returns the bytes that a container must be allowed, so that a full node with all its
// connections open is not killed, rounded up to whole mebibytes.
func ContainerMemory(s Settings) int64 {
	sum := s.ItemMemory + s.ItemMemory*overheadPercent/100 +
		baseMemory +
		int64(s.MaxConnections)*connectionMemory +
		int64(s.Threads)*threadMemory
	return (sum + Mebibyte - 1) / Mebibyte * Mebibyte
}
