package exporter

import (
	"cmp"
	"slices"
)

// Total is how the slab classes of a Pod are combined into one series.
type Total string

// Ways to combine series.
const (
	// Sum is the sum of all classes, and the default.
	Sum Total = "sum"

	// Oldest is the maximum of all classes.
	Oldest Total = "maximum"

	// LastEvicted is the minimum of the classes that evicted items since the last scrape. If no class evicted items, the
	// value is the same as at the last scrape.
	LastEvicted Total = "smallest of the latest evictions"

	// NoTotal means that the values of the classes cannot be combined.
	NoTotal Total = "none"
)

// totals has, for each metric of slab classes, the same metric without the label of the class.
var totals = func() map[*Metric]*Metric {
	all := map[*Metric]*Metric{}
	for _, row := range slices.Concat(items, slabs) {
		total := *row.metric
		total.Labels = total.Labels[1:]
		all[row.metric] = &total
	}
	return all
}()

// Totals returns how each metric of slab classes is combined.
func Totals() map[*Metric]Total {
	all := map[*Metric]Total{}
	for _, row := range slices.Concat(items, slabs) {
		all[row.metric] = cmp.Or(row.total, Sum)
	}
	return all
}

// appendTotals appends one series for each metric of slab classes.
func (e *evictions) appendTotals(samples []Sample, rows []row, classes map[string]map[string]string) []Sample {
	for _, row := range rows {
		if value, ok := e.total(row, classes); ok {
			samples = append(samples, Sample{totals[row.metric], row.labels, value})
		}
	}
	return samples
}

func (e *evictions) total(r row, classes map[string]map[string]string) (total float64, known bool) {
	if r.total == NoTotal {
		return 0, false
	}
	for _, stats := range classes {
		value, ok := r.value(stats)
		known = known || ok
		if r.total == Oldest {
			total = max(total, value)
		} else {
			total += value
		}
	}
	if r.total == LastEvicted {
		total = e.youngest(r, classes)
	}
	return total, known
}

// evictions remembers how many items each class had evicted at the last scrape. For each class, memcached reports for
// how long the last evicted item had not been used, but not when it was evicted. So the value of a class that stopped
// evicting long ago is outdated, and must not count.
type evictions struct {
	counts map[string]float64 // by slab class
	last   float64
}

func (e *evictions) youngest(r row, classes map[string]map[string]string) float64 {
	counts, latest := map[string]float64{}, []float64(nil)
	for class, stats := range classes {
		count, _ := number(stats["evicted"])
		counts[class] = count
		if value, ok := r.value(stats); ok && count > 0 && count != e.counts[class] {
			latest = append(latest, value)
		}
	}
	e.counts = counts
	if len(latest) > 0 {
		e.last = slices.Min(latest)
	}
	return e.last
}
