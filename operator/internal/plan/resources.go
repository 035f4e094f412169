package plan

// The defaults of requests and limits.

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
)

// requestMilliCPU is the CPU request of memcached. There is no CPU limit, because throttling a cache harms its clients
// more than it helps others.
const requestMilliCPU = 50

// resources returns the requests and limits of the spec, with defaults for those that the spec does not set. The memory
// limit is what a full Pod needs at worst, the memory request is what it usually needs, and the CPU request is small.
func resources(spec cachev1.MemcachedSpec, settings memcached.Settings) corev1.ResourceRequirements {
	wanted := orZero(spec.Resources)
	resolved := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{},
		Limits:   corev1.ResourceList{},
	}
	copyRounded(resolved.Requests, wanted.Requests)
	copyRounded(resolved.Limits, wanted.Limits)
	requests, limits := resolved.Requests, resolved.Limits
	setDefault(limits, corev1.ResourceMemory, limitFor(requests, settings))
	reserved := limits[corev1.ResourceMemory]
	if wanted.Profile != cachev1.ResourcesGuaranteed {
		reserved = within(limits, corev1.ResourceMemory, binary(memcached.OrdinaryMemory(settings)))
	}
	setDefault(requests, corev1.ResourceMemory, reserved)
	setDefault(requests, corev1.ResourceCPU, within(limits, corev1.ResourceCPU, milli(requestMilliCPU)))
	return resolved
}

// Threads returns how many worker threads each memcached has: those of the spec, or one for each CPU that is requested,
// and at least memcached's default. A CPU limit bounds that number, because more threads would use up the CPU time of
// each period of 100 ms early, and clients would then wait for the next period.
func Threads(spec cachev1.MemcachedSpec) int32 {
	wanted := orZero(spec.Resources)
	threads := max(memcached.DefaultThreads, cpus(wanted.Requests))
	if limit := cpus(wanted.Limits); limit > 0 {
		threads = min(threads, limit)
	}
	return orDefault(spec.Threads, threads)
}

// cpus returns how many CPUs are listed, rounded up and at most MostThreads; 0 if none are.
func cpus(listed corev1.ResourceList) int32 {
	return int32(min(listed.Cpu().Value(), memcached.MostThreads))
}

// Resources of the agent. It uses about 13 MiB of memory, and more during a scrape of its metrics; its default limit is
// twice its default request. There is no CPU limit, as for memcached.
const (
	agentMemory   = 32 * memcached.Mebibyte
	agentMilliCPU = 10
)

// agentResources returns the resources of the agent's container, with defaults.
func agentResources(spec cachev1.MemcachedSpec) corev1.ResourceRequirements {
	wanted := orZero(orZero(spec.Agent).Resources)
	resolved := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{},
		Limits:   corev1.ResourceList{},
	}
	copyRounded(resolved.Requests, wanted.Requests)
	copyRounded(resolved.Limits, wanted.Limits)
	requests, limits := resolved.Requests, resolved.Limits
	setDefault(limits, corev1.ResourceMemory, atLeast(requests[corev1.ResourceMemory], binary(2*agentMemory)))
	setDefault(requests, corev1.ResourceMemory, within(limits, corev1.ResourceMemory, binary(agentMemory)))
	setDefault(requests, corev1.ResourceCPU, within(limits, corev1.ResourceCPU, milli(agentMilliCPU)))
	return resolved
}

// copyRounded copies quantities and rounds them up to thousandths, as the API server does. Otherwise the stored
// quantity would differ from the applied one.
func copyRounded(to, from corev1.ResourceList) {
	for name, quantity := range from {
		quantity = quantity.DeepCopy()
		quantity.RoundUp(resource.Milli)
		to[name] = quantity
	}
}

// limitFor returns the memory that a full Pod needs, or the memory request if the request is larger.
func limitFor(requests corev1.ResourceList, settings memcached.Settings) resource.Quantity {
	return atLeast(requests[corev1.ResourceMemory], binary(memcached.ContainerMemory(settings)))
}

// atLeast returns the larger quantity; a missing quantity counts as zero.
func atLeast(asked, least resource.Quantity) resource.Quantity {
	if asked.Cmp(least) > 0 {
		return asked
	}
	return least
}

// within returns this default request, or the limit of the resource if the limit is smaller.
func within(limits corev1.ResourceList, name corev1.ResourceName, request resource.Quantity) resource.Quantity {
	if limit, ok := limits[name]; ok && limit.Cmp(request) < 0 {
		return limit
	}
	return request
}

func binary(count int64) resource.Quantity {
	return *resource.NewQuantity(count, resource.BinarySI)
}

func milli(count int64) resource.Quantity {
	return *resource.NewMilliQuantity(count, resource.DecimalSI)
}

func setDefault(list corev1.ResourceList, name corev1.ResourceName, quantity resource.Quantity) {
	if _, ok := list[name]; !ok {
		list[name] = quantity
	}
}

// requestsLimit reports whether memcached's container requests as much memory as its limit.
func requestsLimit(spec cachev1.MemcachedSpec) bool {
	wanted := orZero(spec.Resources)
	_, requests := wanted.Requests[corev1.ResourceMemory]
	return wanted.Profile == cachev1.ResourcesGuaranteed && !requests
}
