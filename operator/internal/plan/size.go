package plan

// How the number of Pods of a cache follows its use.

import (
	"cmp"
	"time"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/autoscale"
)

// autoscalesSize reports whether the operator computes how many Pods the cache needs.
func autoscalesSize(spec cachev1.MemcachedSpec) bool { return orZero(spec.Autoscaling).Size != nil }

// choosesSize reports whether the operator, and not the spec, chooses the number of Pods.
func choosesSize(spec cachev1.MemcachedSpec) bool {
	return autoscalesSize(spec) && spec.Autoscaling.Size.Mode == cachev1.AutoscalingAct
}

// SizeOf returns how many Pods a cache is to have: the number in the spec, or the number that the operator chose.
func SizeOf(mc *cachev1.Memcached) int32 {
	size := orDefault(mc.Spec.Size, 1)
	if !choosesSize(mc.Spec) {
		return size
	}
	chosen := cmp.Or(chosenSize(mc), size)
	if len(mc.Status.Slots) == 0 && mc.Status.Replicas > 0 {
		return chosen // A cache without slots would lose keys if its number of Pods changed.
	}
	return withinSizes(mc.Spec, chosen)
}

// chosenSize returns the number of Pods that the operator chose; 0 if the status has no valid record of it.
func chosenSize(mc *cachev1.Memcached) int32 {
	return int32(recordedPods(recordedSize(mc).Current)) //nolint:gosec // At most 1000.
}

// recordedPods returns a recorded number of Pods; 0 if there is none, or if its value shows that another client wrote
// it.
func recordedPods(recorded *int32) int64 {
	const most = 1000 // that the API allows
	if pods := orZero(recorded); pods > 0 && pods <= most {
		return int64(pods)
	}
	return 0
}

func recordedSize(mc *cachev1.Memcached) cachev1.SizeAutoscalingStatus {
	return orZero(orZero(mc.Status.Autoscaling).Size)
}

func withinSizes(spec cachev1.MemcachedSpec, size int32) int32 {
	wanted := spec.Autoscaling.Size
	return max(wanted.Min, 1, min(size, wanted.Max))
}

// withChosenSize returns a Memcached whose spec has the number of Pods that the operator chose, if the operator chooses
// it. If no choice is recorded, no Pod of the cache is removed. Without slots, the number stays as it is.
func withChosenSize(mc *cachev1.Memcached, current Current) *cachev1.Memcached {
	if !choosesSize(mc.Spec) {
		return mc
	}
	exists := current.size()
	chosen := cmp.Or(chosenSize(mc), max(orDefault(mc.Spec.Size, 1), exists))
	if exists == 0 || current.Slots.Listed > 0 {
		chosen = withinSizes(mc.Spec, chosen)
	}
	with := *mc
	with.Spec.Size = &chosen
	return &with
}

// SizeWith returns how many Pods a cache is to have, given its current Pods, before the operator has reconciled it.
func SizeWith(mc *cachev1.Memcached, current Current) int32 {
	return orDefault(withChosenSize(mc, current).Spec.Size, 1)
}

// size returns how many slots the lists of clients have or, without slots, how many Pods the Deployment has; 0 without
// a Deployment.
func (c Current) size() int32 {
	deployed := int32(0)
	if c.Deployment != nil {
		deployed = orDefault(c.Deployment.Spec.Replicas, 1)
	}
	return cmp.Or(int32(c.Slots.Listed), deployed) //nolint:gosec // An object has room for some thousands.
}

// sizeAutoscaling decides how the number of Pods follows the use of the cache; nil if it does not.
func (d Draft) sizeAutoscaling(decided *Slots) *autoscale.State {
	spec := d.memcached.Spec
	if !autoscalesSize(spec) {
		return nil
	}
	size, wanted, pod := orDefault(spec.Size, 1), spec.Autoscaling.Size, d.givenMemory()
	changing := !spec.Suspend && d.current.Deployment != nil && d.current.size() != size
	return new(autoscale.Decide(autoscale.Input{
		Policy: autoscale.Policy{
			Acts: choosesSize(spec) && decided != nil, Pod: pod, Min: int64(wanted.Min) * pod, Max: int64(wanted.Max) * pod,
			Age:      time.Duration(wanted.EvictionAgeSeconds) * time.Second,
			Cooldown: time.Duration(wanted.CooldownSeconds) * time.Second,
		},
		State: d.sizeState(size, pod), Reports: d.current.Usage.Reports, Now: d.defaults.Now,
		Changing: changing,
		Busy:     changing || !isSettled(d.memcached) || d.hasMoved() || decided == nil || decided.Moving,
	}))
}

// sizeState returns the last decision about the number of Pods, from the status. Each number is converted to the memory
// of that many Pods.
func (d Draft) sizeState(size int32, pod int64) autoscale.State {
	recorded := recordedSize(d.memcached)
	if choosesSize(d.memcached.Spec) {
		size = cmp.Or(chosenSize(d.memcached), size) // The bounds of the spec may have changed since that choice.
	}
	state := autoscale.State{
		Memory: int64(size) * pod, Former: recordedPods(recorded.Former) * pod,
		Finding: autoscale.Finding{
			Reason: autoscale.Reason(recorded.Reason), Message: recorded.Message,
			Recommended: recordedPods(recorded.Recommended) * pod,
			Expected:    orDefault(recorded.ExpectedHitRatioPercent, autoscale.Unknown),
			HitRatio:    orDefault(recorded.HitRatioPercent, autoscale.Unknown),
		},
	}
	if known := recorded.TooLittle; known != nil {
		state.TooLittle = autoscale.TooLittle{
			Memory: valueOf(&known.Memory), Needed: valueOf(known.Needed), Since: known.Since.Time,
		}
	}
	switch {
	case recorded.ChangedAt != nil:
		state.Changed = recorded.ChangedAt.Time
	case recorded.Reason == "" && len(d.current.Usage.Reports.Seen) > 0:
		state.Changed = d.defaults.Now // The size may have changed since the reports began.
	}
	if state.Changed.After(d.defaults.Now) { // The clock was wrong when it was recorded.
		state.Changed = d.defaults.Now
	}
	return state
}

// largestSize returns the largest number of Pods that a cache may get without a change to its spec, and the field that
// sets this number.
func largestSize(spec cachev1.MemcachedSpec) (size int, field string) {
	if choosesSize(spec) {
		return int(spec.Autoscaling.Size.Max), "spec.autoscaling.size.max"
	}
	return int(orDefault(spec.Size, 1)), "spec.size"
}
