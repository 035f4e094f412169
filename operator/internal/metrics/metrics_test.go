package metrics

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

func TestReconciliationsAreCounted(t *testing.T) {
	deployment := func(result apply.Result, drifts ...drift.Drift) apply.Outcome {
		return apply.Outcome{GroupKind: observe.DeploymentKind.GroupKind(), Result: result, Drift: drifts}
	}
	const reconciles, written = "memcached_operator_reconciles_total", "memcached_operator_writes_total"
	tests := map[string]struct {
		reason string
		report apply.Report
		err    error
		want   map[string]float64
	}{
		"a reconciliation without changes writes nothing": {
			reason: cachev1.ReasonAllPodsReady, report: apply.Report{deployment(apply.Unchanged)},
			want: map[string]float64{reconciles + " AllPodsReady done": 1},
		},
		"a reconciliation that is retried": {
			reason: cachev1.ReasonApplyFailed, report: apply.Report{deployment(apply.Failed)}, err: errors.New("no answer"),
			want: map[string]float64{reconciles + " ApplyFailed failed": 1, written + " Deployment failed": 1},
		},
		"drift is reverted": {
			reason: cachev1.ReasonRollingOut, report: apply.Report{deployment(apply.Updated, drift.Drift{Field: ".spec"})},
			want: map[string]float64{
				reconciles + " RollingOut done": 1, written + " Deployment updated": 1,
				"memcached_operator_drift_corrected_total Deployment": 1,
			},
		},
		"a change of the spec is no drift": {
			reason: cachev1.ReasonRollingOut, report: apply.Report{deployment(apply.Updated)},
			want: map[string]float64{reconciles + " RollingOut done": 1, written + " Deployment updated": 1},
		},
		"drift that is left for a while is not corrected": {
			reason: cachev1.ReasonFieldManagerConflict, report: apply.Report{deployment(apply.Conflicting, drift.Drift{})},
			want: map[string]float64{reconciles + " FieldManagerConflict done": 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			mc := &cachev1.Memcached{}
			New(registry).Reconciled(mc, tc.report, statusOf(tc.reason), tc.err)
			got := counts(t, registry)
			maps.DeleteFunc(got, func(_ string, count float64) bool { return count == 0 })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("counted (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWritesOfTheStatusAreCounted(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry)
	m.StatusWritten(nil)
	m.StatusWritten(nil)
	m.StatusWritten(errors.New("no answer"))
	got := counts(t, registry)
	for series, want := range map[string]float64{"Memcached updated": 2, "Memcached failed": 1} {
		if got["memcached_operator_writes_total "+series] != want {
			t.Errorf("%s: %v, want %v", series, got["memcached_operator_writes_total "+series], want)
		}
	}
}

func TestTheNumberOfSeriesDoesNotDependOnTheNumberOfMemcacheds(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry)
	before := len(counts(t, registry))
	for i := range 100 {
		mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint(i), Generation: 1}}
		var report apply.Report
		for _, kind := range observe.AllKinds() {
			for _, result := range append(writes, apply.Unchanged, apply.NotOwned, apply.Conflicting, apply.Terminating) {
				report = append(report, apply.Outcome{GroupKind: kind.GroupKind(), Name: mc.Name, Result: result, Drift: []drift.Drift{{}}})
			}
		}
		m.Reconciled(mc, report, statusOf(reasons[i%len(reasons)]), nil)
		m.StatusWritten(nil)
	}
	if after := len(counts(t, registry)); before != after {
		t.Errorf("%d series, and %d before", after, before)
	}
}

func statusOf(reason string) cachev1.MemcachedStatus {
	ready := metav1.ConditionFalse
	if reason == cachev1.ReasonAllPodsReady {
		ready = metav1.ConditionTrue
	}
	return cachev1.MemcachedStatus{Conditions: []metav1.Condition{
		{Type: cachev1.ConditionReady, Status: ready, Reason: reason},
	}}
}

// counts are the values of all counters and gauges, and how much histograms observed, by name and label values.
func counts(t *testing.T, registry prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.Metric {
			words := []string{family.GetName()}
			for _, label := range metric.Label {
				words = append(words, label.GetValue())
			}
			values[strings.Join(words, " ")] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue() +
				float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return values
}

func TestEveryReasonOfReadyIsThereFromTheStart(t *testing.T) {
	if diff := cmp.Diff(slices.Sorted(slices.Values(reasonsOfReady(t))), slices.Sorted(slices.Values(reasons))); diff != "" {
		t.Errorf("reasons (-the API's +counted):\n%s", diff)
	}
}
