package status

// The condition AsUsual about how the use of the cache deviates from its usual day.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/usual"
)

// setAsUsual reports deviations. They do not change Ready, because the Pods serve clients in any case.
func setAsUsual(status *cachev1.MemcachedStatus, day usual.Day, in Input) {
	condition := metav1.Condition{
		Type: cachev1.ConditionAsUsual, Status: metav1.ConditionUnknown, Reason: day.State,
		ObservedGeneration: in.Memcached.Generation, LastTransitionTime: metav1.NewTime(in.Now),
	}
	switch day.State {
	case "":
		if meta.FindStatusCondition(status.Conditions, cachev1.ConditionAsUsual) != nil {
			return
		}
		condition.Reason, condition.Message = cachev1.ReasonNotReported, notReported
	case cachev1.ReasonLearning:
		condition.Message = learning(day, plan.QuietDays(in.Memcached.Spec), in.Now)
	case cachev1.ReasonNotReported:
		condition.Message = notReported
	case cachev1.ReasonAsUsual:
		condition.Status, condition.Message = metav1.ConditionTrue, "The cache is used as on a usual day"
	}
	if len(day.Deviations) > 0 && day.State == cachev1.ReasonAsUsual {
		condition.Status, condition.Reason = metav1.ConditionFalse, day.Deviations[0].Reason
		condition.Message = Shorten(explain(day.Deviations), longestMessage)
	}
	meta.SetStatusCondition(&status.Conditions, condition)
}

const notReported = "No Pod reports how it is used, so the operator can't find deviations: see docs/sizing.md"

// learning returns the message that says until when the usual day is learned. Hours without use of the cache, or
// without reports, take longer to learn.
func learning(day usual.Day, quiet int64, now time.Time) string {
	const learned = "The operator is still learning how the cache is used on a usual day"
	if ends := day.QuietUntil(quiet).UTC(); now.Before(ends) {
		return learned + ". Deviations are reported from " + ends.Truncate(time.Second).Format(time.RFC3339) + " on"
	}
	return fmt.Sprintf("%s. For this hour of the day, it needs %d days with reports", learned, quiet)
}

func explain(deviations []usual.Deviation) string {
	var messages []string
	for _, deviation := range deviations {
		messages = append(messages, deviation.Message)
	}
	return "Values when the deviation began: " + strings.Join(messages, "; ")
}

// NewDeviations returns the deviations that began since the last status, and whether all deviations of that status have
// ended.
func NewDeviations(before, now cachev1.MemcachedStatus) (began []cachev1.Deviation, ended bool) {
	was, is := DeviationsOf(before), DeviationsOf(now)
	for _, deviation := range is {
		if !slices.ContainsFunc(was, func(d cachev1.Deviation) bool { return d.Reason == deviation.Reason }) {
			began = append(began, deviation)
		}
	}
	return began, len(was) > 0 && len(is) == 0
}

// DeviationsOf returns the deviations that a status has.
func DeviationsOf(status cachev1.MemcachedStatus) []cachev1.Deviation {
	if status.Autoscaling == nil || status.Autoscaling.UsualDay == nil {
		return nil
	}
	return status.Autoscaling.UsualDay.Deviations
}
