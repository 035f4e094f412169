package metrics

import "github.com/prometheus/client_golang/prometheus"

// Updates counts the Memcacheds with updatePolicy Automatic after an upgrade of the operator.
type Updates struct {
	Pending    int // are queued
	InProgress int // are being updated, including failed ones
	Failed     int // are not Ready after the update, and block the updates of other caches
}

// updates reads the counts on each scrape.
type updates struct {
	count                       func() Updates
	pending, inProgress, failed *prometheus.Desc
}

// NewUpdates registers the numbers of updates.
func NewUpdates(registry prometheus.Registerer, count func() Updates) {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("memcached_operator_updates_"+name, help, nil, nil)
	}
	registry.MustRegister(updates{
		count:      count,
		pending:    desc("pending", "Memcacheds with updatePolicy Automatic whose update is queued."),
		inProgress: desc("in_progress", "Memcacheds with updatePolicy Automatic that are being updated."),
		failed: desc("failed",
			"Memcacheds that are not Ready after an automatic update. "+
				"The operator updates no other Memcached until they are Ready."),
	})
}

// Describe implements prometheus.Collector.
func (u updates) Describe(descs chan<- *prometheus.Desc) {
	descs <- u.pending
	descs <- u.inProgress
	descs <- u.failed
}

// Collect implements prometheus.Collector.
func (u updates) Collect(metrics chan<- prometheus.Metric) {
	counts := u.count()
	for desc, count := range map[*prometheus.Desc]int{
		u.pending: counts.Pending, u.inProgress: counts.InProgress, u.failed: counts.Failed,
	} {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(count))
	}
}
