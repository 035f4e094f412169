//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
)

const (
	scaled = "scaled"

	// autoscaler scales to minReplicas without metrics. But without metrics it never becomes healthy, so it has an
	// annotation that makes Argo CD ignore its health.
	autoscaler = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: scaled
  annotations: {argocd.argoproj.io/ignore-healthcheck: "true"}
spec:
  scaleTargetRef: {apiVersion: cache.example.com/v1, kind: Memcached, name: scaled}
  minReplicas: 3
  maxReplicas: 5
  metrics:
    - type: Resource
      resource: {name: memory, target: {type: Utilization, averageUtilization: 80}}
`
)

// autoscalerSetsTheSize: the manifest in Git has no size, so Argo CD does not revert the autoscaler's size.
func (s *site) autoscalerSetsTheSize(t *testing.T) {
	g := newGomega(t)
	commit := s.addAutoscaler(t)
	before := s.syncs(t)
	// Argo CD may have synced a second time, because it compared again before it saw the HPA that it had just created.
	got := before[pipeline.SamplesApplication]
	if want := "Succeeded of " + commit; !strings.HasPrefix(got, want) || strings.Contains(got, "kind:Memcached") {
		t.Errorf("the last sync: %s, want %s: Argo CD must not revert the HPA's change", got, want)
	}
	g.Consistently(func(g gomega.Gomega) {
		g.Expect(s.state(t, pipeline.SamplesApplication, commit)).To(gomega.Equal("Synced Healthy"))
		g.Expect(*s.memcached(t, scaled).Spec.Size).To(gomega.Equal(int32(3)))
	}, atRest).Should(gomega.Succeed())
	if diff := cmp.Diff(before, s.syncs(t)); diff != "" {
		t.Errorf("Argo CD synced because of the HPA's change (-before +after):\n%s", diff)
	}

	s.healthy(t, s.commitCache(t, scaled, "{maxConnections: 512}"))
	if got := s.memcached(t, scaled).Spec; *got.MaxConnections != 512 {
		t.Errorf("maxConnections is %d, want that of the commit", *got.MaxConnections)
	}
	s.assertReady(t, scaled, 3)
	s.nobodyWrites(t)
	s.removeAutoscaler(t)
}

// addAutoscaler commits an HPA, waits until it has scaled the cache from one Pod to three, and returns the commit.
func (s *site) addAutoscaler(t *testing.T) string {
	t.Helper()
	s.healthy(t, s.commitCache(t, scaled, "{}"))
	s.assertReady(t, scaled, 1)
	commit := s.commit(t, "An HPA", func(dir string) error { return addManifest(dir, "hpa", autoscaler) })
	s.healthy(t, commit)
	newGomega(t).Eventually(func() bool {
		mc := s.memcached(t, scaled)
		return mc.Spec.Size != nil && *mc.Spec.Size == 3 && isReady(mc)
	}).Should(gomega.BeTrue(), "the HPA scales the cache to three Pods")
	s.healthy(t, commit)
	return commit
}

func (s *site) removeAutoscaler(t *testing.T) {
	t.Helper()
	s.removeCache(t, "hpa")
	s.healthy(t, s.removeCache(t, scaled))
	s.assertGone(t, scaled)
}
