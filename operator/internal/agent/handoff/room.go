package handoff

// How much memory keys take in a memcached.

import (
	"math"
	"sort"
	"strconv"
)

const (
	page = 1 << 20 // of slabs

	// largestChunk is the size of an item above which memcached takes several chunks for it.
	largestChunk = page / 2
)

// chunks are the sizes of memcached's classes of items. Larger items have classes here, too.
var chunks = func() (sizes []int64) {
	const smallest, largest, factor, alignment = 96, 1 << 30, 1.25, 8
	for size := int64(smallest); size < largest; size = int64(float64(size) * factor) {
		size = (size + alignment - 1) / alignment * alignment
		sizes = append(sizes, size)
	}
	return sizes
}()

// classOf returns the class of an item of so many bytes.
func classOf(size int64) byte {
	return byte(min(len(chunks)-1, sort.Search(len(chunks), func(n int) bool { return chunks[n] >= size })))
}

// ofHeader is what memcached adds to key and value of an item.
const ofHeader = 56

// ofChunk is the part of its chunk that an item has as a rule.
const ofChunk = 0.9

// payload is about how many bytes key and value of an item of a class have.
func payload(class byte) int64 {
	return max(1, int64(ofChunk*float64(chunks[class]))-ofHeader)
}

// need returns how many pages so many items of a class take. Each new memcached has one that is not full, which all
// copiers fill.
func (r room) need(class int, items int64) float64 {
	size := chunks[class]
	if size > largestChunk {
		return float64(items) * math.Ceil(ofChunk*float64(size)/largestChunk) / 2
	}
	full, servers := float64(items)/float64(page/size), float64(r.servers)
	return full + (servers*math.Ceil(full/servers)-full)/float64(r.copiers)
}

// room is how much of what a copier copies the new memcacheds can hold.
type room struct {
	pages   float64
	servers int  // that have them
	copiers int  // that share the servers
	larger  bool // than what the old memcached may have: nothing has to be left out
}

// sure returns how many pages surely are free for items: memcached keeps some for the class that needs one next.
func (r room) sure() float64 {
	const kept, ofAll = 1, 0.03
	return r.pages*(1-ofAll) - kept*float64(r.servers)/float64(r.copiers)
}

// everything is room for all items.
func everything() room { return room{math.Inf(1), 1, 1, true} }

// room returns the part of the new memcacheds' memory that is for what comes from one of the old ones.
func (s *session) room(from *side) room {
	limit := 0.0
	for _, number := range s.move.Targets {
		bytes, err := strconv.ParseFloat(s.side(number).heartbeat.first["limit_maxbytes"], 64)
		if err != nil {
			return everything() // of an import, the target may be absent
		}
		limit += bytes
	}
	bytes, _ := strconv.ParseFloat(from.heartbeat.first["bytes"], 64)
	had, _ := strconv.ParseFloat(from.heartbeat.first["limit_maxbytes"], 64)
	share := bytes * s.move.Share / max(1, float64(s.handoff.counts.totalBytes.Load()))
	return room{limit * share / page, len(s.move.Targets), len(s.move.Sources), s.move.whole && limit >= had}
}
