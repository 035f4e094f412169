package exporter

// Metrics from "stats" and "stats settings".

import "slices"

var allCommands = newMetric(Counter, "commands_total", "Requests, by command and result.",
	"command", "status")

// general are the rows of "stats".
var general = slices.Concat(
	commands(allCommands, map[string]string{"hit": "_hits", "miss": "_misses"}, "cas_misses", "cas_hits", "cas_badval"),
	[]row{
		{metric: allCommands, labels: []string{"flush", "hit"}, stats: []string{"cmd_flush"}},

		counter("uptime_seconds", "How long memcached has been running. After a start, it has no items.", "uptime"),
		gauge("time_seconds", "The time on memcached's clock.", "time"),
		counter("process_user_cpu_seconds_total", "CPU time that memcached used in user mode.", "rusage_user"),
		counter("process_system_cpu_seconds_total", "CPU time that the kernel used for memcached.", "rusage_system"),
		counter("read_bytes_total", "Bytes received from clients.", "bytes_read"),
		counter("written_bytes_total", "Bytes sent to clients.", "bytes_written"),

		gauge("threads", "Worker threads.", "threads"),
		gauge("current_connections", "Open connections.", "curr_connections"),
		counter("connections_total", "Connections opened since the start.", "total_connections"),
		counter("connections_rejected_total", "Connections that memcached rejected "+
			"because of the connection limit.", "rejected_connections"),
		counter("connections_yielded_total", "How often a connection yielded to others.", "conn_yields"),
		counter("connections_listener_disabled_total", "How often memcached stopped accepting connections because of "+
			"the connection limit.",
			"listen_disabled_num"),
		gauge("accepting_connections", "1 if memcached accepts new connections.", "accepting_conns"),
		counter("auth_errors_total", "Rejected logins, including the agent's own checks after a rotation.",
			"auth_errors"),

		gauge("current_bytes", "Bytes that the items use.", "bytes"),
		gauge("limit_bytes", "Bytes that the items may use at most.", "limit_maxbytes"),
		gauge("malloced_bytes", "Bytes of all pages that memcached has given to slab classes.", "total_malloced"),
		gauge("current_items", "Stored items.", "curr_items"),
		counter("items_total", "Items stored since the start.", "total_items"),
		counter("items_evicted_total", "Items evicted to make room for others.", "evictions"),
		counter("items_reclaimed_total", "Items stored instead of an expired one.", "reclaimed"),
		counter("item_too_large_total", "Items rejected because they exceed the maximum item size.",
			"store_too_large"),
		counter("item_no_memory_total", "Items rejected because no memory was free.", "store_no_memory"),
		counter("direct_reclaims_total", "How often a client waited for an eviction.", "direct_reclaims"),

		counter("lru_crawler_starts_total", "Runs of the LRU crawler.", "lru_crawler_starts"),
		counter("lru_crawler_items_checked_total", "Items that the LRU crawler checked.", "crawler_items_checked"),
		counter("lru_crawler_reclaimed_total", "Items that the LRU crawler removed.", "crawler_reclaimed"),
		counter("lru_crawler_moves_to_cold_total", "Items moved from HOT or WARM to COLD.", "moves_to_cold"),
		counter("lru_crawler_moves_to_warm_total", "Items moved from COLD to WARM.", "moves_to_warm"),
		counter("lru_crawler_moves_within_lru_total", "Items that moved within HOT or WARM.", "moves_within_lru"),
	},
)

// settings are the rows of "stats settings".
var settings = []row{
	gauge("max_connections", "Maximum number of open connections.", "maxconns"),
	gauge("lru_crawler_enabled", "1 if the LRU crawler is on.", "lru_crawler"),
	gauge("lru_crawler_sleep", "Microseconds that the LRU crawler waits between two items.", "lru_crawler_sleep"),
	gauge("lru_crawler_to_crawl", "How many items of a slab class a run of the LRU crawler checks; "+
		"0 means all.", "lru_crawler_tocrawl"),
	gauge("lru_crawler_maintainer_thread", "1 if a thread moves items between the LRUs.", "lru_maintainer_thread"),
	gauge("lru_crawler_hot_percent", "Share of the memory reserved for HOT, in percent.", "hot_lru_pct"),
	gauge("lru_crawler_warm_percent", "Share of the memory reserved for WARM, in percent.", "warm_lru_pct"),
	gauge("lru_crawler_hot_max_factor", "An item leaves HOT at this multiple of COLD's age.", "hot_max_factor"),
	gauge("lru_crawler_warm_max_factor", "An item leaves WARM at this multiple of COLD's age.", "warm_max_factor"),
}
