// Package slabs reads how a memcached server divides its memory.
package slabs

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
)

// Class is a slab class: items whose size is at most that of its chunks.
type Class struct {
	Number    int   `json:"class"`
	ChunkSize int64 `json:"chunkBytes"`
	Pages     int64 `json:"pages"`
	Chunks    int64 `json:"chunks"`
	Used      int64 `json:"usedChunks"`
	Items     int64 `json:"items"`

	// Requested is how many bytes the items use in their chunks.
	Requested int64 `json:"requestedBytes"`

	// Age is how many seconds the item at the end of the LRU has not been used.
	Age int64 `json:"ageSeconds"`

	Evicted int64 `json:"evicted"`

	// EvictedAge is how many seconds the last evicted item had not been used.
	EvictedAge int64 `json:"evictedAgeSeconds"`

	// OutOfMemory counts items that were refused, because no memory was free and nothing could be evicted.
	OutOfMemory int64 `json:"outOfMemory"`
}

// Take reads the slab classes of a server that have pages, the smallest chunks first.
func Take(ctx context.Context, connection *reach.Connection) ([]Class, error) {
	slabs, err := connection.Client.Stats(ctx, "slabs")
	if err != nil {
		return nil, err
	}
	items, err := connection.Client.Stats(ctx, "items")
	return classes(exporter.ByClass(slabs, ""), exporter.ByClass(items, "items:")), err
}

func classes(slabs, items map[string]map[string]string) []Class {
	found := []Class{}
	for name, slab := range slabs {
		number, _ := strconv.Atoi(name) // The name is a number.
		item := items[name]
		class := Class{
			Number: number, ChunkSize: value(slab, "chunk_size"), Pages: value(slab, "total_pages"),
			Chunks: value(slab, "total_chunks"), Used: value(slab, "used_chunks"), Items: value(item, "number"),
			Requested: value(item, "mem_requested"), Age: value(item, "age"), Evicted: value(item, "evicted"),
			EvictedAge: value(item, "evicted_time"), OutOfMemory: value(item, "outofmemory"),
		}
		if class.Pages > 0 {
			found = append(found, class)
		}
	}
	slices.SortFunc(found, func(a, b Class) int { return cmp.Compare(a.ChunkSize, b.ChunkSize) })
	return found
}

func value(stats map[string]string, name string) int64 {
	number, _ := strconv.ParseInt(stats[name], 10, 64) // Other versions of memcached may not have all statistics.
	return number
}

// Bucket is the number of items whose size is in a range.
type Bucket struct {
	// AtMost is the size of a chunk. The items are larger than the chunks of the previous bucket.
	AtMost int64 `json:"atMostBytes"`

	Items int64 `json:"items"`
	Bytes int64 `json:"bytes"`
}

// Sizes are the sizes of the items of all servers, by the chunks that hold them. An item that needs several chunks
// counts in the bucket of the largest of these chunks.
func Sizes(servers [][]Class) []Bucket {
	bySize := map[int64]Bucket{}
	for _, classes := range servers {
		for _, class := range classes {
			bucket := bySize[class.ChunkSize]
			bucket.AtMost, bucket.Items = class.ChunkSize, bucket.Items+class.Items
			bucket.Bytes += class.Requested
			bySize[class.ChunkSize] = bucket
		}
	}
	buckets := []Bucket{}
	for _, bucket := range bySize {
		if bucket.Items > 0 {
			buckets = append(buckets, bucket)
		}
	}
	slices.SortFunc(buckets, func(a, b Bucket) int { return cmp.Compare(a.AtMost, b.AtMost) })
	return buckets
}
