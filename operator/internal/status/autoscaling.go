package status

// Reports the findings about the use of the cache.

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

// setAutoscaling reports the findings about the use of the cache, and the decisions about the memory and the number of
// Pods. The next reconciliation reads these decisions from the status and carries them out, so an operator that
// restarts in between carries out the same decisions.
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
	found, decided := &cachev1.AutoscalingStatus{}, in.Plan.Autoscaling
	if decided.Memory != nil {
		found.Memory = new(memoryAutoscaling(*decided.Memory, spec.Autoscaling.Memory.Mode))
	}
	if decided.Size != nil {
		found.Size = new(sizeAutoscaling(*decided.Size, decided.Pod, spec.Autoscaling.Size.Mode))
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
	reported.Current, reported.Former = quantity(decided.Memory), quantity(decided.Former)
	reported.Refused = quantity(decided.Refused)
	reported.ChangedAt = timeOf(decided.Changed)
	return reported
}

// sizeAutoscaling reports a decision about the number of Pods. The decision is about the memory of all Pods together;
// pod is the memory of one Pod.
func sizeAutoscaling(decided autoscale.State, pod int64, mode cachev1.AutoscalingMode) cachev1.SizeAutoscalingStatus {
	found := decided.Finding
	reported := cachev1.SizeAutoscalingStatus{
		Reason: string(found.Reason), Message: Shorten(found.Message, LongestNote),
		Recommended:             pods(found.Recommended, pod),
		ExpectedHitRatioPercent: percentage(found.Expected), HitRatioPercent: percentage(found.HitRatio),
		ChangedAt: timeOf(decided.Changed),
	}
	if mode == cachev1.AutoscalingAct {
		reported.Current, reported.Former = pods(decided.Memory, pod), pods(decided.Former, pod)
		reported.TooLittle = tooLittle(decided.TooLittle)
	}
	return reported
}

func tooLittle(found autoscale.TooLittle) *cachev1.TooLittleMemory {
	memory := quantity(found.Memory)
	if memory == nil {
		return nil
	}
	return &cachev1.TooLittleMemory{
		Memory: *memory, Needed: quantity(found.Needed), Since: metav1.NewTime(found.Since.Truncate(time.Second)),
	}
}

// pods returns how many Pods, each with the memory pod, together have this many bytes; nil for 0 bytes.
func pods(bytes, pod int64) *int32 {
	if bytes == 0 {
		return nil
	}
	return new(int32(bytes / pod)) //nolint:gosec // At most 1000, by the bounds of the spec.
}

func timeOf(at time.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	return new(metav1.NewTime(at.Truncate(time.Second)))
}

// quantity returns a number of bytes; nil for 0.
func quantity(bytes int64) *resource.Quantity {
	if bytes == 0 {
		return nil
	}
	return resource.NewQuantity(bytes, resource.BinarySI)
}

// percentage returns a percentage; nil if it is unknown.
func percentage(value int32) *int32 {
	if value < 0 {
		return nil
	}
	return &value
}

// MemoryStep returns the message about a change to the memory that the operator chose; empty if it did not change.
func MemoryStep(before, now cachev1.MemcachedStatus, why string) string {
	was, is := memoryOf(before), memoryOf(now)
	if was == nil || is == nil || was.Current == nil || is.Current == nil || was.Current.Cmp(*is.Current) == 0 {
		return ""
	}
	return fmt.Sprintf("The memory of each Pod changes from %s to %s. %s", was.Current, is.Current, why)
}

// SizeStep returns the message about a change to the number of Pods that the operator chose; empty if it did not
// change.
func SizeStep(before, now cachev1.MemcachedStatus, why string) string {
	was, is := sizeOf(before), sizeOf(now)
	if listed := len(before.Slots); was == nil && listed > 0 { // Until then, the spec set the number.
		was, why = new(int32(listed)), "spec.autoscaling.size chooses it from now on" //nolint:gosec // At most 1000.
	}
	if was == nil || is == nil || *was == *is {
		return ""
	}
	return fmt.Sprintf("The number of Pods changes from %d to %d. %s", *was, *is, why)
}

// sizeOf returns how many Pods the operator chose; nil if it did not choose.
func sizeOf(status cachev1.MemcachedStatus) *int32 {
	if status.Autoscaling == nil || status.Autoscaling.Size == nil {
		return nil
	}
	return status.Autoscaling.Size.Current
}

func memoryOf(status cachev1.MemcachedStatus) *cachev1.MemoryAutoscalingStatus {
	if status.Autoscaling == nil {
		return nil
	}
	return status.Autoscaling.Memory
}
