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
)

// Memcacheds counts the Memcacheds by the events of the operator's cache: a scrape sends no requests, and iterates
// over no objects.
type Memcacheds struct {
	informers cache.Informers
	desc      *prometheus.Desc

	mu     sync.Mutex
	counts map[string]int // by reason; nil until the operator is the leader
}

// NewMemcacheds registers the number of Memcacheds by reason of Ready. Only the leader exports it.
func NewMemcacheds(registry prometheus.Registerer, informers cache.Informers) *Memcacheds {
	m := &Memcacheds{informers: informers, desc: prometheus.NewDesc("memcached_operator_memcacheds",
		"Memcacheds, by the reason of their condition Ready.", []string{"reason"}, nil)}
	registry.MustRegister(m)
	return m
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
	m.counts = map[string]int{}
	for _, reason := range reasons {
		m.counts[reason] = 0
	}
}

// count subtracts the old state and adds the new one.
func (m *Memcacheds) count(before, now any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if reason := reasonOf(before); reason != "" {
		m.counts[reason]--
		if m.counts[reason] == 0 && !slices.Contains(reasons, reason) {
			delete(m.counts, reason) // A client that may write statuses can invent any number of reasons.
		}
	}
	if reason := reasonOf(now); reason != "" {
		m.counts[reason]++
	}
}

func reasonOf(object any) string {
	if deleted, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = deleted.Obj // The last known state, which was counted.
	}
	mc, ok := object.(*cachev1.Memcached)
	if !ok {
		return ""
	}
	ready := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady)
	if ready == nil {
		return ""
	}
	return ready.Reason
}

// Describe implements prometheus.Collector.
func (m *Memcacheds) Describe(descs chan<- *prometheus.Desc) { descs <- m.desc }

// Collect implements prometheus.Collector.
func (m *Memcacheds) Collect(metrics chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for reason, count := range m.counts {
		metrics <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, float64(count), reason)
	}
}
