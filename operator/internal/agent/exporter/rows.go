package exporter

// Defines how a statistic of memcached becomes a metric.

import "slices"

// row is a series: its name, and the statistics from which its value is computed. Names, labels and types are the same
// as those of the official exporter, so that the dashboards and alerts for that exporter work. Only the types of a few
// metrics differ: they are gauges here, and counters in that exporter.
type row struct {
	metric *Metric
	labels []string // values of the labels after that of the slab class
	stats  []string // the value is the first one minus all other ones

	// total is how the slab classes of a Pod are combined into one series. It has no meaning in the general rows.
	total Total
}

// Metrics that do not come from memcached's statistics.
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

// as returns the row with another way to combine the slab classes than their sum.
func (r row) as(total Total) row {
	r.total = total
	return r
}

// commands returns a row for each command and status of requests. Memcached counts each cas as a set, too; casOfSet are
// the counts of cas, which are subtracted from the count of sets.
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
