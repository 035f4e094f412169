package memcached

// The memory that memcached needs besides its items, from the source of 1.6 and by measurement (docs/memory.md). The
// agent is not included: its container has its own limit.
const (
	// programMemory is for code, libraries, and the threads for LRU, log and hash table.
	programMemory = 8 * Mebibyte

	// slabClassMemory: a slab class gets its first page of a mebibyte even when -m is reached (slabs.c,
	// do_slabs_newslab), and there are at most 63 (memcached.h, MAX_NUMBER_OF_SLAB_CLASSES). Without -f there are 39.
	slabClassMemory = 63 * Mebibyte

	// pagePercent: page tables (8 bytes for 4 KiB), and what the allocator adds to a page of a mebibyte (4 KiB).
	pagePercent = 1

	// threadMemory: stack and arena of a worker thread, its log buffer (64 KiB, logger.h) and its buffer of items to
	// move up in the LRU (128 KiB, items.c).
	threadMemory = Mebibyte / 2

	// connectionMemory is for a connection with a pending multiget whose client does not read: a conn structure and the
	// kernel's socket (6 KiB together), the read buffer (16 KiB, memcached.h, READ_BUFFER_SIZE), response objects for
	// unsent keys (6 KiB, enough for 5 keys), and 64 KiB of the answer in the kernel's send buffer (72 KiB there).
	connectionMemory = int64(6+16+6+72) << 10

	// tlsConnectionMemory is what TLS adds to a connection: OpenSSL's state, and the buffers of an incomplete read and
	// write (16 KiB each, a TLS record).
	tlsConnectionMemory = int64(32) << 10

	// workerLogBuffer and watcherLogBuffer are the log buffers of each worker thread and of each connection that watches
	// the log (logger.h: -o worker_logbuf_size and watcher_logbuf_size). Lines that do not fit are dropped.
	workerLogBuffer  = 8 * Mebibyte
	watcherLogBuffer = 16 * Mebibyte

	// handoffWatchers: the log of memcached is read by the agent in its own Pod and by the agent in the Pod's successor.
	handoffWatchers = 2

	// idleConnectionMemory is for a connection without a request: a conn structure and the kernel's socket. TLS adds
	// OpenSSL's state.
	idleConnectionMemory    = int64(6) << 10
	idleTLSConnectionMemory = int64(16) << 10

	// busyShare is the part of the connections that is busy at a time under an ordinary load: one in ten.
	busyShare = 10

	// ordinarySlabClassMemory is for the classes that get their first page when the memory is used up. They are few,
	// because the sizes of items change little under an ordinary load.
	ordinarySlabClassMemory = 16 * Mebibyte

	// smallestItem is the smallest chunk of an item: its header and 48 bytes (slabs.c, slabs_init).
	smallestItem = 96
)

// ContainerMemory returns the memory limit with which a full memcached, with all connections open and busy, is not
// killed, rounded up to mebibytes. MaxItemSize does not matter: larger items are stored in several chunks, within the
// item memory.
func ContainerMemory(s Settings) int64 {
	connections := int64(s.MaxConnections) * connectionMemory
	if s.TLS != nil {
		connections += int64(s.MaxConnections+s.agentsConnections()) * tlsConnectionMemory
	}
	return s.memory(slabClassMemory, connections)
}

// OrdinaryMemory returns what a full memcached uses at most under an ordinary load, rounded up to mebibytes: all
// connections are open, and one in ten has an answer in flight.
func OrdinaryMemory(s Settings) int64 {
	busy := int64(s.MaxConnections) / busyShare
	idle := int64(s.MaxConnections) - busy
	connections := busy*connectionMemory + idle*idleConnectionMemory
	if s.TLS != nil {
		connections += busy*tlsConnectionMemory + idle*idleTLSConnectionMemory
	}
	return s.memory(ordinarySlabClassMemory, connections)
}

// memory returns the sum of the given memory, for slab classes and connections, and of the memory that does not depend
// on how busy clients are.
func (s Settings) memory(slabClasses, connections int64) int64 {
	sum := s.ItemMemory + s.ItemMemory*pagePercent/100 +
		hashTable(max(s.ItemMemory, s.FormerMemory)) +
		slabClasses +
		programMemory +
		connections +
		int64(s.Threads)*threadMemory
	if s.Handoff {
		sum += int64(s.Threads)*workerLogBuffer + handoffWatchers*watcherLogBuffer + handoffConnections*connectionMemory
	}
	return RoundUp(sum)
}

// RoundUp rounds a number of bytes up to whole mebibytes.
func RoundUp(bytes int64) int64 { return (bytes + Mebibyte - 1) / Mebibyte * Mebibyte }

// hashTable returns the size of the hash table, 8 bytes per bucket, when the memory is full of the smallest items,
// including the table of half the size from which it has just grown. The table doubles at 1.5 items per bucket
// (assoc.c).
func hashTable(itemMemory int64) int64 {
	buckets := int64(1) << 16 // HASHPOWER_DEFAULT
	for buckets*3/2 < itemMemory/smallestItem {
		buckets *= 2
	}
	return buckets * (8 + 4)
}
