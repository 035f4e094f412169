package integration

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestARolloutOfAHundredPodsCostsAtMostTwentyWritesOfTheStatus also counts the writes while the Pods first become
// ready, and while half of them are removed. The same limit holds for each.
func TestARolloutOfAHundredPodsCostsAtMostTwentyWritesOfTheStatus(t *testing.T) {
	w := newWorld(t)
	spent := 0
	atMostTwenty := func(what string, size int) {
		t.Helper()
		began := time.Now()
		w.Eventually(func() bool { // Pods become ready one after another.
			w.makeAllReady("cache")
			mc := get(w, "cache", &cachev1.Memcached{})
			return meta.IsStatusConditionTrue(mc.Status.Conditions, cachev1.ConditionReady) && mc.Status.ObservedGeneration == mc.Generation
		}).WithTimeout(5 * patience).Should(gomega.BeTrue())
		took := time.Since(began)
		w.Eventually(func() []string { return get(w, "cache", &cachev1.Memcached{}).Status.Nodes }).
			Should(gomega.And(gomega.HaveLen(size), gomega.Equal(podNames(w.pods("cache")))))
		all := count(w.quiet(), "patch memcacheds/status")
		t.Logf("%s: %d writes of the status in %s", what, all-spent, took)
		if all-spent > 20 {
			t.Errorf("%s costs %d writes of the status, want at most 20", what, all-spent)
		}
		spent = all
	}
	w.memcached("cache", 100)
	atMostTwenty("a new cache of 100 Pods", 100)
	w.patchSpec(`{"memory":"128Mi"}`)
	atMostTwenty("a rollout of 100 Pods, one at a time", 100)
	w.patchSpec(`{"memory":"256Mi","rollout":{"maxSurge":"25%"}}`)
	atMostTwenty("a rollout of 100 Pods, 25 at a time", 100)
	w.patchSpec(`{"size":50}`)
	atMostTwenty("the removal of 50 Pods", 50)
}
