//go:build e2e

package e2e

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/example-inc/memcached-operator/internal/testing/dashboards"
	"github.com/example-inc/memcached-operator/internal/testing/proc"
	"github.com/example-inc/memcached-operator/internal/testing/prometheus"
	"github.com/example-inc/memcached-operator/internal/testing/soak"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestEachPanelHasDataInARollout makes a real Prometheus scrape a cache with slots and the operator, while clients
// write and read, memcached evicts items, and all Pods are replaced. The old Pods report one sum over all slab classes,
// and the new Pods report each slab class.
func TestEachPanelHasDataInARollout(t *testing.T) {
	soak.Only(t, "test/monitoring knows the metrics of each panel")
	c.loaded(t)
	const name = "dashboards"
	it := newSlots(t, name, cachev1.MemcachedSpec{
		Image: newMemcached(t), Size: new(int32(3)), Memory: new(resource.MustParse("16Mi")),
		Slots:                   &cachev1.Slots{Handoff: &cachev1.Handoff{BytesPerSecond: new(resource.MustParse("1Mi"))}},
		TerminationDelaySeconds: new(int32(10)),
	})
	read, err := dashboards.Read(c.Root)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	it.Expect(read).To(gomega.HaveLen(4))
	server, from := it.scraped(), time.Now()
	values := map[string]string{
		"cluster": ".*", "namespace": name, "memcached": name,
		"__rate_interval": "30s", "__range": "10m",
	}
	check := func(isMeant func(dashboards.Query) bool) {
		values["pod"] = names(it.pods())[0] // a new one after the rollout
		it.Eventually(func() (missing []string) {
			for file, dashboard := range read {
				for _, query := range append(dashboards.Queries(dashboard), dashboards.VariableQueries(dashboard)...) {
					if isMeant(query) && !it.hasData(server, query, values, from) {
						missing = append(missing, fmt.Sprintf("%s: %s: %s", file, query.Of, query.With(values)))
					}
				}
			}
			return missing
		}).WithPolling(2*time.Second).Should(gomega.BeEmpty(), "each panel has data")
	}
	it.judge(slotsCase{port: 11211, writes: calmWrites}, func() {
		it.evictsItems(server)
		check(func(query dashboards.Query) bool { return strings.Contains(query.Expr, "memcached_slab_") })
		before := it.pods()
		it.patch(`{"metrics":{"slabMetrics":"PerClass"}}`)
		it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
		for pod := range before {
			it.Expect(it.pods()).NotTo(gomega.HaveKey(pod), "each Pod is replaced")
		}
		it.drains()
		it.evictsItems(server)
	})
	check(func(dashboards.Query) bool { return true })
	copies := it.query(server, `count_over_time((memcached_agent_handoff_progress_ratio > 0 < 1)[10m:2s])`)
	it.Expect(copies).To(gomega.HaveLen(3), "each copy is visible while it is made")
}

// hasData reports whether a query has a number at some time of the test.
func (it *cache) hasData(
	server prometheus.Server, query dashboards.Query, values map[string]string, from time.Time,
) bool {
	it.t.Helper()
	now := time.Now()
	if query.Instant {
		from = now
	}
	matrix, err := server.QueryRange(it.t.Context(), query.With(values), from, now, 2*time.Second)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	for _, series := range matrix {
		for _, sample := range series.Values {
			if !math.IsNaN(float64(sample.Value)) {
				return true
			}
		}
	}
	return false
}

// evictsItems stores more than each Pod has memory for, until Prometheus has seen evictions grow in each Pod.
func (it *cache) evictsItems(server prometheus.Server) {
	it.t.Helper()
	it.Eventually(func() model.Vector {
		for _, pod := range it.all() {
			it.overfills(pod)
		}
		return it.query(server, `group by (pod) (rate(memcached_slab_items_evicted_total[30s]) > 0) and on (pod) (memcached_up == 1)`)
	}).WithPolling(2 * time.Second).Should(gomega.HaveLen(3))
}

func (it *cache) overfills(pod corev1.Pod) {
	it.t.Helper()
	err := proc.InNetworkOf(c.pid(it.t, "kubelet"), func() error { return fill(it.t.Context(), pod.Status.PodIP, 30000) })
	it.Expect(err).NotTo(gomega.HaveOccurred())
}

func (it *cache) query(server prometheus.Server, query string) model.Vector {
	it.t.Helper()
	vector, err := server.Query(it.t.Context(), query, time.Now())
	it.Expect(err).NotTo(gomega.HaveOccurred())
	return vector
}
