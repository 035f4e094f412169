package exporter

// How a statistic of memcached becomes a metric.

import "slices"

// row is a series: its statistics, and its name. Names, labels and types are those of the official exporter, so that
// its dashboards and alerts work; a few gauges are counters there.
type row struct {
	metric *Metric
	labels []string // values, after that of the slab class
	stats  []string // the first minus all the others

	// total is how the slab classes of a Pod are combined into one series. The general rows have no classes.
	total Total
}

// Metrics that are not statistics of memcached.
var (
	up      = newMetric(Gauge, "up", "1 if memcached answers, 0 if not.")
	version = newMetric(Gauge, "version", "Always 1. The label is memcached's version.", "version")

	certificateEnd = newMetric(Gauge, "certificate_not_after_timestamp_seconds",
		"When the certificate that memcached serves expires. It may differ from the one in the Secret.")
)

// Metrics returns all metrics of an Exporter.
func Metrics() []*Metric {
	all := []*Metric{up, version, certificateEnd}
	for _, row := range slices.Concat(general, settings, items, slabs) {
		if !slices.Contains(all, row.metric) {
			all = append(all, row.metric)
		}
	}
	return all
}

func newMetric(kind Kind, name, help string, labels ...string) *Metric {
	return &Metric{Name: "memcached_" + name, Kind: kind, Help: help, Labels: labels}
}

func gauge(name, help, stat string) row {
	return row{metric: newMetric(Gauge, name, help), stats: []string{stat}}
}

func counter(name, help, stat string) row {
	return row{metric: newMetric(Counter, name, help), stats: []string{stat}}
}

func slabGauge(name, help, stat string) row {
	return row{metric: newMetric(Gauge, "slab_"+name, help, "slab"), stats: []string{stat}}
}

func slabCounter(name, help, stat string) row {
	return row{metric: newMetric(Counter, "slab_"+name, help, "slab"), stats: []string{stat}}
}

// as sets how the slab classes are combined, if that is not their sum.
func (r row) as(total Total) row {
	r.total = total
	return r
}

// commands returns the requests by command and status. Memcached counts each cas as a set, too; casOfSet are those
// counts.
func commands(metric *Metric, statuses map[string]string, casOfSet ...string) []row {
	command := func(name, status string, stats ...string) row {
		return row{metric: metric, labels: []string{name, status}, stats: stats}
	}
	rows := []row{
		command("cas", "badval", "cas_badval"),
		command("set", "hit", append([]string{"cmd_set"}, casOfSet...)...),
	}
	for _, name := range []string{"get", "delete", "incr", "decr", "cas", "touch"} {
		for status, suffix := range statuses {
			rows = append(rows, command(name, status, name+suffix))
		}
	}
	return rows
}
