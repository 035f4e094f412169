package exporter

// Metrics of slab classes, from "stats items" and "stats slabs".

import "slices"

// items are the rows of "stats items", which has statistics of each slab class.
var items = []row{
	lruHits("hot", "hits_to_hot"),
	lruHits("warm", "hits_to_warm"),
	lruHits("cold", "hits_to_cold"),
	lruHits("temporary", "hits_to_temp"),

	slabGauge("current_items", "Items of the slab class.", "number"),
	slabGauge("hot_items", "Items in HOT.", "number_hot"),
	slabGauge("warm_items", "Items in WARM.", "number_warm"),
	slabGauge("cold_items", "Items in COLD.", "number_cold"),
	slabGauge("temporary_items", "Items in TEMPORARY.", "number_temp"),
	slabGauge("items_age_seconds", "Age of the oldest item.", "age").as(Oldest),
	slabGauge("hot_age_seconds", "Age of the oldest item in HOT.", "age_hot").as(Oldest),
	slabGauge("warm_age_seconds", "Age of the oldest item in WARM.", "age_warm").as(Oldest),
	slabCounter("mem_requested_bytes", "Bytes that the items use in their chunks.",
		"mem_requested"),

	slabCounter("items_evicted_total", "Items evicted to make room for others.", "evicted"),
	slabCounter("items_evicted_nonzero_total", "Evicted items that had a time to live.", "evicted_nonzero"),
	slabCounter("items_evicted_time_seconds", "Time since the last use of the item that was evicted last.",
		"evicted_time").as(LastEvicted),
	slabCounter("items_evicted_unfetched_total", "Items that were evicted and never read.", "evicted_unfetched"),
	slabCounter("items_expired_unfetched_total", "Items that expired and were never read.", "expired_unfetched"),
	slabCounter("items_outofmemory_total", "Items not stored because no memory was free.", "outofmemory"),
	slabCounter("items_tailrepairs_total", "Items removed because their lock was lost.", "tailrepairs"),
	slabCounter("items_reclaimed_total", "Items stored instead of an expired one.", "reclaimed"),
	slabCounter("items_crawler_reclaimed_total", "Items that the LRU crawler removed.", "crawler_reclaimed"),
	slabCounter("items_moves_to_cold", "Items moved from HOT or WARM to COLD.", "moves_to_cold"),
	slabCounter("items_moves_to_warm", "Items moved from COLD to WARM.", "moves_to_warm"),
	slabCounter("items_moves_within_lru", "Items that moved within HOT or WARM.", "moves_within_lru"),
}

// slabs are the rows of "stats slabs", which has statistics of each slab class.
var slabs = slices.Concat(
	commands(newMetric(Counter, "slab_commands_total", "Requests, by slab class, command and result.",
		"slab", "command", "status"), map[string]string{"hit": "_hits"}, "cas_hits", "cas_badval"),
	[]row{
		slabGauge("chunk_size_bytes", "Size of a chunk. No item of the slab class is larger.", "chunk_size").as(NoTotal),
		slabGauge("chunks_per_page", "Chunks of a page.", "chunks_per_page").as(NoTotal),
		slabGauge("current_pages", "Pages of the slab class.", "total_pages"),
		slabGauge("current_chunks", "Chunks of the slab class.", "total_chunks"),
		slabGauge("chunks_used", "Chunks that hold an item.", "used_chunks"),
		slabGauge("chunks_free", "Chunks that hold no item.", "free_chunks"),
		slabGauge("chunks_free_end", "Chunks at the end of the newest page that hold no item.", "free_chunks_end"),
	},
)

var allLRUHits = newMetric(Counter, "slab_lru_hits_total", "Hits, by the LRU that held the item.",
	"slab", "lru")

func lruHits(lru, stat string) row {
	return row{metric: allLRUHits, labels: []string{lru}, stats: []string{stat}}
}
