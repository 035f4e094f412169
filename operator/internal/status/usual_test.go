package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/usual"
)

func TestTheConditionAsUsual(t *testing.T) {
	since := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	deviations := []usual.Deviation{{Reason: cachev1.ReasonHitRatioFell, Message: "a"}, {Reason: cachev1.ReasonLatencyRose, Message: "b"}}
	tests := map[string]struct {
		day     usual.Day
		status  metav1.ConditionStatus
		reason  string
		message string
	}{
		"it is learned": {
			usual.Day{State: cachev1.ReasonLearning}, metav1.ConditionUnknown, cachev1.ReasonLearning,
			"The operator is still learning how the cache is used on a usual day. Deviations are reported from 2026-01-12T08:00:00Z on",
		},
		"an hour that is used on some days takes longer": {
			usual.Day{State: cachev1.ReasonLearning, Since: since.Add(-30 * 24 * time.Hour)}, metav1.ConditionUnknown,
			cachev1.ReasonLearning,
			"The operator is still learning how the cache is used on a usual day. For this hour of the day, it needs 7 days with reports",
		},
		"nothing is known yet": {
			usual.Day{}, metav1.ConditionUnknown, cachev1.ReasonNotReported,
			"No Pod reports how it is used, so the operator can't find deviations: see docs/sizing.md",
		},
		"as usual": {
			usual.Day{State: cachev1.ReasonAsUsual}, metav1.ConditionTrue, cachev1.ReasonAsUsual,
			"The cache is used as on a usual day",
		},
		"nobody reports": {
			usual.Day{State: cachev1.ReasonNotReported, Deviations: deviations}, metav1.ConditionUnknown, cachev1.ReasonNotReported,
			"No Pod reports how it is used, so the operator can't find deviations: see docs/sizing.md",
		},
		"several deviations": {
			usual.Day{State: cachev1.ReasonAsUsual, Deviations: deviations}, metav1.ConditionFalse, cachev1.ReasonHitRatioFell,
			"Values when the deviation began: a; b",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			mc := &cachev1.Memcached{}
			mc.Spec.Autoscaling = &cachev1.Autoscaling{}
			if test.day.Since.IsZero() {
				test.day.Since = since
			}
			status := Evaluate(Input{Memcached: mc, Plan: plan.Plan{UsualDay: &test.day}, Now: since})
			got := meta.FindStatusCondition(status.Conditions, cachev1.ConditionAsUsual)
			want := &metav1.Condition{
				Type: cachev1.ConditionAsUsual, Status: test.status, Reason: test.reason, Message: test.message,
				LastTransitionTime: metav1.NewTime(since),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			mc.Status, mc.Spec.Autoscaling = status, nil
			status = Evaluate(Input{Memcached: mc, Now: since})
			if status.Autoscaling != nil || meta.FindStatusCondition(status.Conditions, cachev1.ConditionAsUsual) != nil {
				t.Error("it is still reported without spec.autoscaling")
			}
		})
	}
}
