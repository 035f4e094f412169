package memcached

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
