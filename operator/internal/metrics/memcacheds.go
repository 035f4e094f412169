package metrics

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// Memcacheds counts the Memcacheds by the events of the operator's cache: a scrape sends no requests, and iterates
// over no objects.
type Memcacheds struct {
	informers cache.Informers

	mu     sync.Mutex
	gauges []*gauge
}

// gauge counts the Memcacheds by the reason of a condition.
type gauge struct {
	desc    *prometheus.Desc
	of      func(*cachev1.Memcached) []string
	reasons []string // that are exported even if no Memcached has them

	counts map[string]int // by reason; nil until the operator is the leader
}

// NewMemcacheds registers the numbers of Memcacheds by the reason of Ready, and by the reasons of their deviations.
// Only the leader exports these numbers.
func NewMemcacheds(registry prometheus.Registerer, informers cache.Informers) *Memcacheds {
	m := &Memcacheds{informers: informers, gauges: []*gauge{
		newGauge("memcacheds", "Memcacheds, by the reason of their condition Ready.", reasonOfReady, reasons),
		newGauge("unusual_memcacheds", "Memcacheds whose use deviates from their usual day, "+
			"by the reason of the deviation.", deviationsOf, deviations),
	}}
	registry.MustRegister(m)
	return m
}

func newGauge(name, help string, of func(*cachev1.Memcached) []string, reasons []string) *gauge {
	return &gauge{
		desc: prometheus.NewDesc("memcached_operator_"+name, help, []string{"reason"}, nil), of: of, reasons: reasons,
	}
}

// Start counts until the context ends. A manager calls it when the operator becomes the leader.
func (m *Memcacheds) Start(ctx context.Context) error {
	informer, err := m.informers.GetInformer(ctx, &cachev1.Memcached{})
	if err != nil {
		return fmt.Errorf("count the Memcacheds: %w", err)
	}
	m.begin()
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(added any) { m.count(nil, added) },
		UpdateFunc: m.count,
		DeleteFunc: func(deleted any) { m.count(deleted, nil) },
	})
	if err != nil {
		return fmt.Errorf("count the Memcacheds: %w", err)
	}
	<-ctx.Done()
	return nil
}

func (m *Memcacheds) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, g := range m.gauges {
		g.counts = map[string]int{}
		for _, reason := range g.reasons {
			g.counts[reason] = 0
		}
	}
}

// count subtracts the old state of a Memcached from the counts, and adds the new state.
func (m *Memcacheds) count(before, now any) {
	was, is := memcachedOf(before), memcachedOf(now)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, g := range m.gauges {
		g.count(was, -1)
		g.count(is, 1)
	}
}

func (g *gauge) count(mc *cachev1.Memcached, by int) {
	if mc == nil {
		return
	}
	for _, reason := range g.of(mc) {
		g.counts[reason] += by
		if g.counts[reason] == 0 && !slices.Contains(g.reasons, reason) {
			delete(g.counts, reason) // A client that may write statuses can invent any number of reasons.
		}
	}
}

func memcachedOf(object any) *cachev1.Memcached {
	if deleted, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = deleted.Obj // The last known state, which was counted.
	}
	mc, _ := object.(*cachev1.Memcached)
	return mc
}

func reasonOfReady(mc *cachev1.Memcached) []string {
	if ready := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady); ready != nil {
		return []string{ready.Reason}
	}
	return nil
}

func deviationsOf(mc *cachev1.Memcached) (reasons []string) {
	for _, deviation := range status.DeviationsOf(mc.Status) {
		reasons = append(reasons, deviation.Reason)
	}
	return reasons
}

// Describe implements prometheus.Collector.
func (m *Memcacheds) Describe(descs chan<- *prometheus.Desc) {
	for _, g := range m.gauges {
		descs <- g.desc
	}
}

// Collect implements prometheus.Collector.
func (m *Memcacheds) Collect(metrics chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, g := range m.gauges {
		for reason, count := range g.counts {
			metrics <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, float64(count), reason)
		}
	}
}
