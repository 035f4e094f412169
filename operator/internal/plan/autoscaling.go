package plan

// How a cache follows its use, in particular its memory.

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/autoscale"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

// leastItemMemory is the least memory for items that the schema allows.
const leastItemMemory = 16 * memcached.Mebibyte

// ObservesUse reports whether Pods report how the cache is used.
func ObservesUse(spec cachev1.MemcachedSpec) bool { return spec.Autoscaling != nil }

// NeedsCurve reports whether the operator computes how much memory, or how many Pods, the cache needs.
func NeedsCurve(spec cachev1.MemcachedSpec) bool {
	return autoscalesMemory(spec) || autoscalesSize(spec)
}

// autoscalesMemory reports whether the operator computes how much memory the cache needs.
func autoscalesMemory(spec cachev1.MemcachedSpec) bool { return orZero(spec.Autoscaling).Memory != nil }

// choosesMemory reports whether the operator, and not the spec, chooses the memory.
func choosesMemory(spec cachev1.MemcachedSpec) bool {
	return autoscalesMemory(spec) && spec.Autoscaling.Memory.Mode == cachev1.AutoscalingAct
}

// memoryPolicy returns the bounds and times of the spec within which the memory follows the use of the cache.
func memoryPolicy(spec cachev1.MemcachedSpec) autoscale.Policy {
	wanted := orZero(orZero(spec.Autoscaling).Memory)
	least := int64(leastItemMemory)
	if wanted.Min != nil {
		least = min(memcached.RoundUp(wanted.Min.Value()), wholeMebibytes(wanted.Max))
	}
	return autoscale.Policy{
		Acts: choosesMemory(spec), Min: least, Max: wholeMebibytes(wanted.Max),
		Age:      time.Duration(wanted.EvictionAgeSeconds) * time.Second,
		Cooldown: time.Duration(wanted.CooldownSeconds) * time.Second,
	}
}

// withChosenMemory returns a Memcached whose spec has the memory that the operator chose, if the operator chooses it.
// If no choice is recorded, the spec gets the memory that the Pods have.
func withChosenMemory(mc *cachev1.Memcached, current Current) *cachev1.Memcached {
	if !choosesMemory(mc.Spec) {
		return mc
	}
	policy := memoryPolicy(mc.Spec)
	recorded := memoryState(mc).Memory
	chosen := cmp.Or(recorded, current.Slots.mostGiven(), deployedMemory(current.Deployment),
		memcached.DefaultItemMemory)
	with := *mc
	with.Spec.Memory = new(binary(policy.Within(chosen)))
	return &with
}

// memoryState returns the last decision about the memory, from the status.
func memoryState(mc *cachev1.Memcached) autoscale.State {
	recorded := orZero(orZero(mc.Status.Autoscaling).Memory)
	state := autoscale.State{
		Memory: valueOf(recorded.Current), Refused: valueOf(recorded.Refused), Former: valueOf(recorded.Former),
		Finding: autoscale.Finding{
			Reason: autoscale.Reason(recorded.Reason), Message: recorded.Message,
			Recommended: valueOf(recorded.Recommended),
			Expected:    orDefault(recorded.ExpectedHitRatioPercent, autoscale.Unknown),
			HitRatio:    orDefault(recorded.HitRatioPercent, autoscale.Unknown),
		},
	}
	if recorded.ChangedAt != nil {
		state.Changed = recorded.ChangedAt.Time
	}
	return state
}

// Autoscaling is how the cache follows its use from now on.
type Autoscaling struct {
	// Memory is the decision about the memory of each Pod; nil if that memory does not follow the use.
	Memory *autoscale.State

	// Size is the decision about the number of Pods, expressed as the memory of all Pods together; nil if the number does
	// not follow the use. If Size is not nil, Pod is the memory of each Pod.
	Size *autoscale.State
	Pod  int64
}

// autoscaling decides how the cache follows its use.
func (d Draft) autoscaling(decided *Slots) Autoscaling {
	found := Autoscaling{Memory: d.memoryAutoscaling(), Size: d.sizeAutoscaling(decided)}
	if found.Size != nil {
		found.Pod = d.givenMemory()
	}
	return found
}

// memoryAutoscaling decides how the memory follows the use of the cache; nil if it does not.
func (d Draft) memoryAutoscaling() *autoscale.State {
	spec := d.memcached.Spec
	if !autoscalesMemory(spec) {
		return nil
	}
	state := memoryState(d.memcached)
	in := autoscale.Input{
		Policy: memoryPolicy(spec), State: state, Reports: d.current.Usage.Reports, Now: d.defaults.Now,
		Busy: !isSettled(d.memcached) || !d.resizesPods(), Refused: d.refuses(state.Changed),
	}
	if !in.Policy.Acts || in.State.Memory == 0 {
		in.State.Memory = d.givenMemory()
	}
	return new(autoscale.Decide(in))
}

// resizesPods reports whether a change to the memory resizes running Pods, instead of replacing them. Pods without
// slots can't be resized; they get slots only when another change replaces them.
func (d Draft) resizesPods() bool { return d.before == nil || d.before.Slots }

// isSettled reports whether all Pods were ready, with the memory of this spec, according to the last status.
func isSettled(mc *cachev1.Memcached) bool {
	ready := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady)
	return !mc.Spec.Suspend && ready != nil && ready.Reason == cachev1.ReasonAllPodsReady &&
		ready.ObservedGeneration == mc.Generation
}

// mostGiven returns the largest memory that an instruction gives to memcached in a Pod; 0 if no instruction gives any.
func (c CurrentSlots) mostGiven() int64 {
	most := int64(0)
	for _, pod := range c.Pods {
		if pod.Instruction.Memory <= slots.MostMemory {
			most = max(most, pod.Instruction.Memory)
		}
	}
	return most
}

// refuses reports whether a Pod can't be resized to the memory of the last step: its kubelet refuses, or does not
// report the resources of its containers, or the API server rejects the resize. Pods that were created after the step
// do not count: they start with the memory of the template.
func (d Draft) refuses(step time.Time) bool {
	settings := d.Pod.Memcached
	settings.ItemMemory = ItemMemory(d.memcached.Spec)
	needed := resources(d.memcached.Spec, settings)
	request, limit := needed.Requests.Memory().Value(), needed.Limits.Memory().Value()
	for _, pod := range d.current.Slots.Pods {
		serves := pod.Hash == d.current.Slots.Hash && pod.MemcachedReady && !pod.Terminating && !pod.Ended
		has := cmp.Or(pod.Instruction.Memory, deployedMemory(d.current.Deployment))
		if !serves || !pod.Created.Before(step) || has >= settings.ItemMemory {
			continue
		}
		isResized := pod.Container.Request >= request && pod.Container.Limit >= limit
		if pod.ResizeRefused != "" || pod.Actual == (slots.Container{}) || !isResized && d.hasAsked() {
			return true
		}
	}
	return false
}

// hasAsked reports whether this operator has had the time to resize the Pods as this spec requires. It has not had this
// time if it started less than a minute ago, or has not reconciled this spec yet.
func (d Draft) hasAsked() bool {
	ready := meta.FindStatusCondition(d.memcached.Status.Conditions, cachev1.ConditionReady)
	since := d.current.Usage.Reports.Since
	return ready != nil && ready.ObservedGeneration == d.memcached.Generation && !since.IsZero() &&
		d.defaults.Now.Sub(since) >= time.Minute
}

// autoscalingProblems finds fields of the spec that prevent the memory from following the use of the cache.
func autoscalingProblems(mc *cachev1.Memcached, pod Pod) []string {
	spec := mc.Spec
	if !ObservesUse(spec) {
		return nil
	}
	var problems []string
	if pod.Agent == nil {
		problems = append(problems, "spec.autoscaling needs the agent, which observes the requests, and with "+
			"spec.metrics.mode Disabled the Pods have no agent: remove spec.metrics.mode, or add spec.slots")
	}
	if !choosesMemory(spec) {
		return problems
	}
	policy, settings := memoryPolicy(spec), pod.Memcached
	if settings.MaxItemSize > memcached.LargestItem(policy.Min) {
		problems = append(problems, fmt.Sprintf("spec.autoscaling.memory.min %s is less than twice spec.maxItemSize, and "+
			"memcached would not start: raise it to at least %s", bytes(policy.Min), mebibytes(2*settings.MaxItemSize)))
	}
	settings.ItemMemory = policy.Max
	limits := orZero(spec.Resources).Limits
	limit := limits.Memory()
	if needed := memcached.ContainerMemory(settings); !limit.IsZero() && limit.CmpInt64(needed) < 0 {
		problems = append(problems, fmt.Sprintf("spec.resources.limits.memory %q is less than a full Pod needs with "+
			"spec.autoscaling.memory.max %s: raise it to at least %s, remove it, or lower max", limit, bytes(policy.Max),
			mebibytes(needed)))
	}
	return problems
}

func wholeMebibytes(quantity resource.Quantity) int64 {
	return quantity.Value() / memcached.Mebibyte * memcached.Mebibyte
}

// valueOf returns a recorded memory in bytes; 0 if there is none, or if its value shows that another client wrote it.
func valueOf(quantity *resource.Quantity) int64 {
	if quantity == nil || quantity.Value() < 0 || quantity.Value() > slots.MostMemory {
		return 0
	}
	return quantity.Value()
}
