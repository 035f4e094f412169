package exporter

import (
	"cmp"
	"slices"
)

// Total says how the slab classes of a Pod make one series.
type Total string

// Ways to make one series of many.
const (
	// Sum is that of all classes, and what is meant where nothing is said.
	Sum Total = "sum"

	// Oldest is the largest of all classes.
	Oldest Total = "maximum"

	// LastEvicted is the smallest of the classes that evicted items since the scrape before, or what it was then.
	LastEvicted Total = "smallest of the latest evictions"

	// NoTotal: what is said of a class means nothing for all of them together.
	NoTotal Total = "none"
)

// totals are the metrics of slab classes without the class.
var totals = func() map[*Metric]*Metric {
	all := map[*Metric]*Metric{}
	for _, row := range slices.Concat(items, slabs) {
		total := *row.metric
		total.Labels = total.Labels[1:]
		all[row.metric] = &total
	}
	return all
}()

// Totals tells of each metric of slab classes how they make one series.
func Totals() map[*Metric]Total {
	all := map[*Metric]Total{}
	for _, row := range slices.Concat(items, slabs) {
		all[row.metric] = cmp.Or(row.total, Sum)
	}
	return all
}

// appendTotals appends one series for what is told of many classes.
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

// evictions knows what was evicted before. Memcached tells of each class how long ago the item had been used that it
// evicted last, but not when that was: a class that has long ceased to evict says nothing of today.
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
