package plan

// How the memory of running Pods follows the spec.

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

// Resizes reports whether a change to the memory in the spec gives running Pods another memory.
func Resizes(spec cachev1.MemcachedSpec) bool {
	return spec.Slots != nil && keepsPods(spec)
}

// keepsPods reports whether a change to the memory replaces no Pod. Pods without slots keep the memory that they have
// until an update.
func keepsPods(spec cachev1.MemcachedSpec) bool {
	return orZero(spec.Rollout).MemoryChange == cachev1.MemoryResize
}

// ItemMemory returns the memory for items that a spec requests, in bytes. The memory is rounded down to memcached's
// unit. The schema has a minimum, so the result is above zero.
func ItemMemory(spec cachev1.MemcachedSpec) int64 {
	if spec.Memory == nil {
		return memcached.DefaultItemMemory
	}
	return wholeMebibytes(*spec.Memory)
}

// deployedMemory returns the memory that memcached starts with according to the Pod template of a Deployment; 0 if that
// is unknown.
func deployedMemory(live *appsv1.Deployment) int64 {
	if live == nil {
		return 0
	}
	return memcached.ItemMemoryOf(containerOf(live.Spec.Template.Spec.Containers, names.Container).Args)
}

// givenMemory returns the memory for items that Pods have, or are about to get. For Pods without slots, it is the
// memory that they started with.
func (d Draft) givenMemory() int64 {
	if d.record.Slots {
		return ItemMemory(d.memcached.Spec)
	}
	return d.Pod.Memcached.ItemMemory
}

// memory returns the memory that running Pods are to have. It is nil if their memory stays as it is, because Pods of
// the template with this hash are about to replace them. If a change to the memory replaces Pods, running Pods only
// lose memory that a resize gave them before.
func (d Draft) memory(hash string) *slots.Memory {
	live := d.current.Deployment
	if d.before == nil || d.before.Template != hash || live == nil || live.Status.ObservedGeneration < live.Generation {
		return nil
	}
	spec, settings := d.memcached.Spec, d.Pod.Memcached
	started := settings.ItemMemory
	settings.ItemMemory = ItemMemory(spec)
	return &slots.Memory{
		Started: started, Wanted: settings.ItemMemory, Whole: requestsLimit(spec),
		Container: func(former int64) slots.Container {
			settings.FormerMemory = former
			found := resources(spec, settings)
			return slots.Container{
				Request: found.Requests.Memory().Value(), Limit: found.Limits.Memory().Value(),
			}
		},
	}
}

// haveNoRoom reports whether Pods of the current template can't get their memory: a Node can never have room for the
// resized Pod, or no Node has room for a new Pod, which is to have less memory than it starts with (shrink). The first
// case counts only if the spec sets the memory (insists): memory that the operator chose is reduced again instead.
func (c CurrentSlots) haveNoRoom(shrink, insists bool) bool {
	return slices.ContainsFunc(c.Pods, func(pod slots.Pod) bool {
		return pod.Hash == c.Hash && !pod.Terminating &&
			(insists && pod.ResizeRefused == corev1.PodReasonInfeasible || shrink && pod.Unschedulable)
	})
}
