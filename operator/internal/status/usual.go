package status

// The condition AsUsual about how the use of the cache deviates from its usual day.

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/usual"
)

// setAsUsual reports deviations. They do not change Ready: the Pods serve all the same.
func setAsUsual(status *cachev1.MemcachedStatus, day usual.Day, in Input) {
	condition := metav1.Condition{
		Type: cachev1.ConditionAsUsual, Status: metav1.ConditionUnknown, Reason: day.State,
		ObservedGeneration: in.Memcached.Generation, LastTransitionTime: metav1.NewTime(in.Now),
	}
	switch day.State {
	case cachev1.ReasonLearning:
		ends := day.Since.Add(plan.QuietTime(in.Memcached.Spec)).UTC().Truncate(time.Second)
		condition.Message = "How the cache is used on a usual day is learned. Deviations are reported from " +
			ends.Format(time.RFC3339) + " on"
	case cachev1.ReasonNotReported:
		condition.Message = "No Pod reports how it is used, so that deviations are not found: see docs/sizing.md"
	case cachev1.ReasonAsUsual:
		condition.Status, condition.Message = metav1.ConditionTrue, "The cache is used as on a usual day"
	}
	if len(day.Deviations) > 0 && day.State == cachev1.ReasonAsUsual {
		condition.Status, condition.Reason = metav1.ConditionFalse, day.Deviations[0].Reason
		condition.Message = Shorten(explain(day.Deviations), longestMessage)
	}
	meta.SetStatusCondition(&status.Conditions, condition)
}

func explain(deviations []usual.Deviation) string {
	var messages []string
	for _, deviation := range deviations {
		messages = append(messages, deviation.Message)
	}
	return "When it began, " + strings.Join(messages, "; ")
}

// NewDeviations returns the deviations that began, and whether all of before have ended.
func NewDeviations(before, now cachev1.MemcachedStatus) (began []cachev1.Deviation, ended bool) {
	was, is := deviationsOf(before), deviationsOf(now)
	for _, deviation := range is {
		if !slices.ContainsFunc(was, func(d cachev1.Deviation) bool { return d.Reason == deviation.Reason }) {
			began = append(began, deviation)
		}
	}
	return began, len(was) > 0 && len(is) == 0
}

func deviationsOf(status cachev1.MemcachedStatus) []cachev1.Deviation {
	if status.Autoscaling == nil || status.Autoscaling.UsualDay == nil {
		return nil
	}
	return status.Autoscaling.UsualDay.Deviations
}
