package metrics

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

func TestSlotsThatAnotherPodTakesAreCounted(t *testing.T) {
	slot := func(pod string, state cachev1.SlotState, reason string) cachev1.SlotStatus {
		return cachev1.SlotStatus{Name: "shop-0", Pod: pod, State: state, Reason: reason}
	}
	const total = "memcached_operator_handoffs_total "
	copying := slot("a", cachev1.SlotCopying, "")
	tests := map[string]struct {
		before, now cachev1.SlotStatus
		want        map[string]float64
	}{
		"nothing changed": {before: copying, now: copying, want: map[string]float64{}},
		"with its keys": {before: copying, now: slot("b", cachev1.SlotServing, ""), want: map[string]float64{
			total + " kept": 1, "memcached_operator_handoff_duration_seconds": 1,
		}},
		"cold, by a reason of the operator": {
			before: copying, now: slot("b", cachev1.SlotCold, slots.ReasonTimedOut),
			want: map[string]float64{total + "HandoffTimedOut cold": 1},
		},
		"cold, by a reason of the agent": {
			before: copying, now: slot("b", cachev1.SlotCold, "OldEnded"),
			want: map[string]float64{total + "HandoffFailed cold": 1},
		},
		"cold, because the spec says so": {before: copying, now: slot("b", cachev1.SlotCold, slots.ReasonNever), want: map[string]float64{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			metrics := New(registry)
			before, now := []cachev1.SlotStatus{tc.before}, []cachev1.SlotStatus{tc.now}
			decided := []slots.Status{{Name: "shop-1"}, {Name: "shop-0", Pod: tc.now.Pod, Took: time.Minute}}
			metrics.StatusReported(cachev1.MemcachedStatus{Slots: before}, cachev1.MemcachedStatus{Slots: now}, decided)
			got := counts(t, registry)
			maps.DeleteFunc(got, func(_ string, count float64) bool { return count == 0 })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("counted (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEveryReasonOfAColdStartIsCounted: the alert has the reason as a label.
func TestEveryReasonOfAColdStartIsCounted(t *testing.T) {
	var want []string
	for _, reason := range page.Constants(t, "../slots", "Reasons of a slot that is cold") {
		if reason.Value != slots.ReasonNoPod && reason.Value != slots.ReasonNever { // No Pod started, or no copy is wanted.
			want = append(want, reason.Value)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(coldReasons))); diff != "" {
		t.Errorf("reasons (-of the package slots +counted):\n%s", diff)
	}
}
