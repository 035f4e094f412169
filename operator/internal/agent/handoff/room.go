package handoff

// Computes how much memory keys take in a memcached.

import (
	"math"
	"sort"
	"strconv"
)

const (
	page = 1 << 20 // bytes of a slab page

	// largestChunk is the largest size of an item that memcached stores in one chunk.
	largestChunk = page / 2
)

// chunks are the sizes of memcached's slab classes. Here, items that are larger than memcached's largest chunk have
// classes, too.
var chunks = func() (sizes []int64) {
	const smallest, largest, factor, alignment = 96, 1 << 30, 1.25, 8
	for size := int64(smallest); size < largest; size = int64(float64(size) * factor) {
		size = (size + alignment - 1) / alignment * alignment
		sizes = append(sizes, size)
	}
	return sizes
}()

// classOf returns the class of an item of this many bytes.
func classOf(size int64) byte {
	return byte(min(len(chunks)-1, sort.Search(len(chunks), func(n int) bool { return chunks[n] >= size })))
}

// ofHeader is how many bytes memcached adds to the key and value of an item.
const ofHeader = 56

// ofChunk is the part of its chunk that an item usually fills.
const ofChunk = 0.9

// payload returns about how many bytes the key and value of an item of a class have.
func payload(class byte) int64 {
	return max(1, int64(ofChunk*float64(chunks[class]))-ofHeader)
}

// need returns how many pages this many items of a class take. Each new memcached has one page of the class that is not
// full, and all copiers together fill this page.
func (r room) need(class int, items int64) float64 {
	size := chunks[class]
	if size > largestChunk {
		return float64(items) * math.Ceil(ofChunk*float64(size)/largestChunk) / 2
	}
	full, servers := float64(items)/float64(page/size), float64(r.servers)
	return full + (servers*math.Ceil(full/servers)-full)/float64(r.copiers)
}

// room is the memory of the new memcacheds for the items of one copier.
type room struct {
	pages   float64
	servers int  // number of new memcacheds that have the pages
	copiers int  // number of copiers that share these memcacheds
	larger  bool // the old memcached has at most this memory, so no key has to be left out
}

// sure returns how many pages certainly are free for items: memcached reserves some for the class that needs a page
// next.
func (r room) sure() float64 {
	const kept, ofAll = 1, 0.03
	return r.pages*(1-ofAll) - kept*float64(r.servers)/float64(r.copiers)
}

// everything is room for all items.
func everything() room { return room{math.Inf(1), 1, 1, true} }

// room returns the part of the new memcacheds' memory that is for the items of one old memcached.
func (s *session) room(from *side) room {
	limit := 0.0
	for _, number := range s.move.Targets {
		bytes, err := strconv.ParseFloat(s.side(number).heartbeat.first["limit_maxbytes"], 64)
		if err != nil {
			return everything() // the target of an import may be absent
		}
		limit += bytes
	}
	bytes, _ := strconv.ParseFloat(from.heartbeat.first["bytes"], 64)
	had, _ := strconv.ParseFloat(from.heartbeat.first["limit_maxbytes"], 64)
	share := bytes * s.move.Share / max(1, float64(s.handoff.counts.totalBytes.Load()))
	return room{limit * share / page, len(s.move.Targets), len(s.move.Sources), s.move.whole && limit >= had}
}
