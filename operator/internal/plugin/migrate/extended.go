package migrate

import (
	"slices"
	"strings"
)

// extended is an extended option of memcached, and what to do without it.
type extended struct{ prefix, advice string }

// notExtended are the beginnings of extended options that are not moved to spec.extraArgs.
var notExtended = []extended{
	{"modern", ""}, // Memcached 1.6 ignores it.
	{"ssl_", "set spec.tls"},
	{"ext_", "items are in memory only; raise spec.memory or spec.size"},
	{"proxy_", "the operator runs memcached as a cache, not as a proxy"},
	{"slab_chunk_max", "spec.maxItemSize needs the option's default"},
	{"no_chunked_items", "spec.maxItemSize depends on chunks"},
	{"no_modern", "spec.maxItemSize depends on chunks"},
	{"drop_privileges", "memcached could not reload users and certificates"},
	{"no_lru_crawler", "not possible with slots, which list keys; keys are not copied from a release with it"},
	{"idle_timeout", "not possible with slots, which need open connections"},
}

// setExtended keeps the extended options that a Memcached can have.
func (r *release) setExtended(a argument) {
	var kept []string
	for part := range strings.SplitSeq(a.value, ",") {
		part = strings.TrimSpace(part)
		not := slices.IndexFunc(notExtended, func(o extended) bool { return strings.HasPrefix(part, o.prefix) })
		switch {
		case part == "":
		case not < 0:
			kept = append(kept, part)
		case notExtended[not].advice != "":
			instead(notExtended[not].advice)(r, argument{a.path, a.letter, " " + part})
		}
	}
	if len(kept) > 0 {
		r.spec.ExtraArgs = append(r.spec.ExtraArgs, "--extended="+strings.Join(kept, ","))
	}
}
