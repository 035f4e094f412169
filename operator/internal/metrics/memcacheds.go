package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// patience is how long a scrape waits for the cache, which is filled when the operator starts to lead.
const patience = 5 * time.Second

// memcacheds counts the Memcacheds that there are, when it is asked. It reads the operator's cache: asking costs no
// request.
type memcacheds struct {
	cache   client.Reader
	leading <-chan struct{}
	desc    *prometheus.Desc
}

// CountMemcacheds adds the number of Memcacheds by reason of Ready. An operator that stands by tells nothing: it has no
// cache, and the one that leads counts them.
func CountMemcacheds(registry prometheus.Registerer, cache client.Reader, leading <-chan struct{}) {
	desc := prometheus.NewDesc("memcached_operator_memcacheds",
		"Memcacheds, by the reason of Ready that their status tells.", []string{"reason"}, nil)
	registry.MustRegister(memcacheds{cache: cache, leading: leading, desc: desc})
}

// Describe is part of prometheus.Collector.
func (m memcacheds) Describe(descs chan<- *prometheus.Desc) { descs <- m.desc }

// Collect is part of prometheus.Collector.
func (m memcacheds) Collect(metrics chan<- prometheus.Metric) {
	select {
	case <-m.leading:
	default:
		return
	}
	counts, err := m.count()
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(m.desc, err)
		return
	}
	for reason, count := range counts {
		metrics <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, float64(count), reason)
	}
}

func (m memcacheds) count() (map[string]int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	list := &cachev1.MemcachedList{}
	if err := m.cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, reason := range reasons {
		counts[reason] = 0
	}
	for _, mc := range list.Items {
		if ready := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady); ready != nil {
			counts[ready.Reason]++
		}
	}
	return counts, nil
}
