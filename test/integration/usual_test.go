package integration

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// isUsed makes each Pod report this number of connections.
func (w *usageWorld) isUsed(connections int) {
	w.report.Store(new(fmt.Sprintf(`{"recentReads":1000,"recentHitRatio":0.9,"connections":%d,"latencyMicroseconds":90}`,
		connections)))
}

// learned returns a status with what the operator would have learned in eight days with the same use in each hour.
func learned(connections int64) string {
	hours := func(value int64) (list []int64) {
		for range 24 {
			list = append(list, value)
		}
		return list
	}
	encoded, _ := json.Marshal(map[string]any{"autoscaling": cachev1.AutoscalingStatus{UsualDay: &cachev1.UsualDay{
		Since: metav1.NewTime(time.Now().Add(-8 * 24 * time.Hour)), LearnedAt: new(metav1.Now()),
		Signals: []cachev1.UsualSignal{{
			Name: cachev1.SignalConnections, Usual: hours(1000 * connections), Spread: hours(100), Days: hours(8),
		}},
	}}})
	return string(encoded)
}

// asUsual returns the condition AsUsual, without its time.
func (w *usageWorld) asUsual() metav1.Condition {
	condition := meta.FindStatusCondition(get(w.world, "cache", &cachev1.Memcached{}).Status.Conditions, cachev1.ConditionAsUsual)
	if condition == nil {
		return metav1.Condition{}
	}
	return metav1.Condition{Status: condition.Status, Reason: condition.Reason, Message: condition.Message}
}

func TestADeviationFromTheUsualDayIsReported(t *testing.T) {
	w := newUsageWorld(t)
	w.isUsed(1000)
	w.memcachedWithSlots("cache", 2, cachev1.SlotsDNS, func(spec *cachev1.MemcachedSpec) {
		spec.Autoscaling = &cachev1.Autoscaling{}
	})
	w.Eventually(func() string { return w.asUsual().Reason }).Should(gomega.Equal(cachev1.ReasonLearning))

	// According to the status, more than a week has passed. The reports are about the quarter of an hour that is just
	// ending.
	w.stop()
	w.patchStatus(get(w.world, "cache", &cachev1.Memcached{}), learned(1000))
	w.start()
	w.Eventually(func() metav1.Condition { return w.asUsual() }).Should(gomega.Equal(metav1.Condition{
		Status: metav1.ConditionTrue, Reason: cachev1.ReasonAsUsual, Message: "The cache is used as on a usual day",
	}))
	before, reads := len(w.quiet()), w.agents.Reads()
	w.Eventually(w.agents.Reads).Should(gomega.BeNumerically(">", reads+3))
	if more := w.quiet()[before:]; len(more) > 0 {
		t.Errorf("with reports that say the same, the operator requested %v", more)
	}

	// A new operator process continues to report a deviation that began before.
	w.stop()
	w.patchStatus(get(w.world, "cache", &cachev1.Memcached{}), `{"autoscaling":{"usualDay":{"deviations":[
		{"reason":"ConnectionsFell","message":"a Pod has 5 connections, usually 1000"}]}}}`)
	w.isUsed(5)
	w.start()
	fell := metav1.Condition{
		Status: metav1.ConditionFalse, Reason: cachev1.ReasonConnectionsFell,
		Message: "Values when the deviation began: a Pod has 5 connections, usually 1000",
	}
	w.Eventually(w.asUsual).Should(gomega.Equal(fell))
	w.Eventually(func() map[string]float64 { return readMetrics(w.world, w.metrics) }).
		Should(gomega.HaveKeyWithValue(`memcached_operator_unusual_memcacheds{reason="ConnectionsFell"}`, 1.))
	reads = w.agents.Reads()
	w.Eventually(w.agents.Reads).Should(gomega.BeNumerically(">", reads+8))
	if diff := cmp.Diff(fell, w.asUsual()); diff != "" {
		t.Errorf("while it is reported (-want +got):\n%s", diff)
	}

	// This is what docs/runbooks/MemcachedUnusual.md says.
	w.patchStatus(get(w.world, "cache", &cachev1.Memcached{}), `{"autoscaling":{"usualDay":null}}`)
	w.Eventually(func() string { return w.asUsual().Reason }).Should(gomega.Equal(cachev1.ReasonLearning))
	w.Eventually(func() map[string]float64 { return readMetrics(w.world, w.metrics) }).
		Should(gomega.HaveKeyWithValue(`memcached_operator_unusual_memcacheds{reason="ConnectionsFell"}`, 0.))

	w.patchSpec(`{"autoscaling":null}`)
	w.Eventually(w.asUsual).Should(gomega.Equal(metav1.Condition{}))
}
