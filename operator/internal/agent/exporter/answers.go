package exporter

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

// answers are memcached's statistics.
type answers struct {
	general, settings map[string]string
	items, slabs      map[string]map[string]string // by slab class
}

func readAnswers(ctx context.Context, client *protocol.Client) (answers, error) {
	var all [4]map[string]string
	for i, kind := range []string{"", "settings", "items", "slabs"} {
		stats, err := client.Stats(ctx, kind)
		if err != nil {
			return answers{}, err
		}
		all[i] = stats
	}
	// memcached reports this total in "stats slabs", but it does not belong to a slab class.
	all[0]["total_malloced"] = all[3]["total_malloced"]
	return answers{
		general: all[0], settings: all[1],
		items: ByClass(all[2], "items:"), slabs: ByClass(all[3], ""),
	}, nil
}

// ByClass groups statistics by slab class: it splits names such as items:1:number or 1:chunk_size, and drops totals,
// which have no class.
func ByClass(stats map[string]string, prefix string) map[string]map[string]string {
	classes := map[string]map[string]string{}
	for name, value := range stats {
		class, name, ok := strings.Cut(strings.TrimPrefix(name, prefix), ":")
		if _, err := strconv.Atoi(class); err != nil || !ok {
			continue
		}
		if classes[class] == nil {
			classes[class] = map[string]string{}
		}
		classes[class][name] = value
	}
	return classes
}

// samples returns the general samples. If each is true, it adds the samples of each slab class, and otherwise their
// totals.
func (a answers) samples(each bool, evicted *evictions) []Sample {
	var samples []Sample
	if text := a.general["version"]; text != "" {
		samples = append(samples, Sample{version, []string{strings.ToValidUTF8(text, "?")}, 1})
	}
	samples = appendRows(samples, general, a.general)
	samples = appendRows(samples, settings, a.settings)
	if !each {
		samples = evicted.appendTotals(samples, items, a.items)
		return evicted.appendTotals(samples, slabs, a.slabs)
	}
	for class, stats := range a.items {
		samples = appendRows(samples, items, stats, class)
	}
	for class, stats := range a.slabs {
		samples = appendRows(samples, slabs, stats, class)
	}
	return samples
}

// appendRows appends a sample for each row whose statistics memcached reports. Some versions of memcached do not report
// all of them.
func appendRows(samples []Sample, rows []row, stats map[string]string, class ...string) []Sample {
	for _, row := range rows {
		if value, ok := row.value(stats); ok {
			samples = append(samples, Sample{row.metric, append(slices.Clip(class), row.labels...), value})
		}
	}
	return samples
}

// value returns the first of the row's statistics, minus all other ones.
func (r row) value(stats map[string]string) (float64, bool) {
	total, ok := number(stats[r.stats[0]])
	for _, name := range r.stats[1:] {
		part, known := number(stats[name])
		total, ok = total-part, ok && known
	}
	return total, ok
}

func number(text string) (float64, bool) {
	switch text {
	case "yes":
		return 1, true
	case "no":
		return 0, true
	}
	value, err := strconv.ParseFloat(text, 64)
	return value, err == nil
}
