package status

// What was found about the use of the cache.

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/autoscale"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// setAutoscaling reports what was found, and what was decided about the memory. What is written is carried out by the
// next reconciliation: so an operator that ends in between does the same.
func setAutoscaling(status *cachev1.MemcachedStatus, in Input) {
	spec := in.Memcached.Spec
	if !plan.ObservesUse(spec) {
		status.Autoscaling = nil
		meta.RemoveStatusCondition(&status.Conditions, cachev1.ConditionAsUsual)
		return
	}
	if !in.isPlanned() {
		return
	}
	found := &cachev1.AutoscalingStatus{}
	if decided := in.Plan.Autoscaling; decided != nil {
		found.Memory = new(memoryAutoscaling(*decided, spec.Autoscaling.Memory.Mode))
	}
	if day := in.Plan.UsualDay; day != nil {
		found.UsualDay = plan.RecordOf(*day)
		setAsUsual(status, *day, in)
	}
	status.Autoscaling = found
}

func memoryAutoscaling(decided autoscale.State, mode cachev1.AutoscalingMode) cachev1.MemoryAutoscalingStatus {
	found := decided.Finding
	reported := cachev1.MemoryAutoscalingStatus{
		Reason: string(found.Reason), Message: Shorten(found.Message, LongestNote),
		Recommended:             quantity(found.Recommended),
		ExpectedHitRatioPercent: percentage(found.Expected), HitRatioPercent: percentage(found.HitRatio),
	}
	if mode != cachev1.AutoscalingAct {
		return reported
	}
	reported.Current, reported.Refused = quantity(decided.Memory), quantity(decided.Refused)
	if !decided.Changed.IsZero() {
		reported.ChangedAt = new(metav1.NewTime(decided.Changed.Truncate(time.Second)))
	}
	return reported
}

// quantity returns a number of bytes; nil for 0.
func quantity(bytes int64) *resource.Quantity {
	if bytes == 0 {
		return nil
	}
	return resource.NewQuantity(bytes, resource.BinarySI)
}

// percentage returns a percentage; nil for one that is unknown.
func percentage(value int32) *int32 {
	if value < 0 {
		return nil
	}
	return &value
}

// MemoryStep returns what to report of another memory that the operator chose; empty for none.
func MemoryStep(before, now cachev1.MemcachedStatus, why string) string {
	was, is := memoryOf(before), memoryOf(now)
	if was == nil || is == nil || was.Current == nil || is.Current == nil || was.Current.Cmp(*is.Current) == 0 {
		return ""
	}
	return fmt.Sprintf("The memory of each Pod changes from %s to %s. %s", was.Current, is.Current, why)
}

func memoryOf(status cachev1.MemcachedStatus) *cachev1.MemoryAutoscalingStatus {
	if status.Autoscaling == nil {
		return nil
	}
	return status.Autoscaling.Memory
}
