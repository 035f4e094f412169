package memcached

// The extended options of memcached that users may set.

import (
	"fmt"
	"strings"
)

// Reasons for which an extended option is refused.
const (
	managedChunk = "spec.maxItemSize needs the option's default"
	managedProxy = "the operator runs memcached as a cache, not as a proxy"
	managedFiles = "the container's file system is read-only"
	managedCalls = "memcached could not reload users and certificates"
)

// refusedExtended are the extended options that break the operator's assumptions, by prefix.
var refusedExtended = []struct{ prefix, reason string }{
	{"ssl_", managedSecurity},
	{"proxy_", managedProxy},
	{"ext_", managedFiles},
	{"slab_chunk_max", managedChunk},
	{"no_chunked_items", managedChunk},
	{"no_modern", managedChunk}, // It implies no_chunked_items.
	{"drop_privileges", managedCalls},
}

// extended are the allowed extended options of memcached 1.6 (memcached.c, subopts_tokens). Unknown options are
// rejected: they could open a file or a port, or change values from which the memory limit is computed.
var extended = map[string]bool{
	"maxconns_fast": true, "no_maxconns_fast": true, "idle_timeout": true,
	"hashpower": true, "no_hashexpand": true, "hash_algorithm": true,
	"slab_reassign": true, "no_slab_reassign": true, "slab_sizes": true, "track_sizes": true,
	"slab_automove": true, "no_slab_automove": true, "slab_automove_ratio": true, "slab_automove_window": true,
	"slab_automove_freeratio": true,
	"lru_crawler":             true, "no_lru_crawler": true, "lru_crawler_sleep": true, "lru_crawler_tocrawl": true,
	"lru_maintainer": true, "no_lru_maintainer": true, "temporary_ttl": true, "tail_repair_time": true,
	"hot_lru_pct": true, "warm_lru_pct": true, "hot_max_factor": true, "warm_max_factor": true,
	"watcher_logbuf_size": true, "worker_logbuf_size": true,
	"read_buf_mem_limit": true, "resp_obj_mem_limit": true,
	"inline_ascii_resp": true, "no_inline_ascii_resp": true, "modern": true, "no_drop_privileges": true,
}

// extendedNames reads a value of --extended as getsubopt does: parts separated by commas, each a name with an
// optional value after an equals sign. Names cannot be abbreviated. Blanks count, except for leading ones, which
// memcached skips.
func extendedNames(value string) []string {
	var names []string
	for part := range strings.SplitSeq(strings.TrimLeft(value, " \t\n\v\f\r"), ",") {
		if part == "" {
			continue // Memcached ignores it, or reports it.
		}
		name, _, _ := strings.Cut(part, "=")
		names = append(names, name)
	}
	return names
}

func checkExtended(argument, value string) error {
	for _, name := range extendedNames(value) {
		if reason := refusal(name); reason != "" {
			return fmt.Errorf("%q sets %s: %s", argument, name, reason)
		}
	}
	return nil
}

func refusal(name string) string {
	for _, refused := range refusedExtended {
		if strings.HasPrefix(name, refused.prefix) {
			return refused.reason
		}
	}
	if !extended[name] {
		return "the operator does not know this extended option of memcached 1.6; correct or remove it"
	}
	return ""
}
