package plan

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
)

// requestMilliCPU is what a node is sure of. There is no CPU limit: throttling a cache costs its clients more than
// it saves anybody.
const requestMilliCPU = 50

// resources fills in what the spec leaves out: the memory that a full node needs as a limit and as a request, so
// that it is there when it is needed, and a little CPU.
func resources(spec cachev1.MemcachedSpec, settings memcached.Settings) corev1.ResourceRequirements {
	wanted := orZero(spec.Resources)
	resolved := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{},
		Limits:   corev1.ResourceList{},
	}
	copyRounded(resolved.Requests, wanted.Requests)
	copyRounded(resolved.Limits, wanted.Limits)
	setDefault(resolved.Limits, corev1.ResourceMemory, limitFor(resolved.Requests, settings))
	setDefault(resolved.Requests, corev1.ResourceMemory, resolved.Limits[corev1.ResourceMemory])
	setDefault(resolved.Requests, corev1.ResourceCPU, defaultCPU(resolved.Limits))
	return resolved
}

// copyRounded rounds up to thousandths, as the API server does: what it keeps would else differ from what is applied.
func copyRounded(to, from corev1.ResourceList) {
	for name, quantity := range from {
		quantity = quantity.DeepCopy()
		quantity.RoundUp(resource.Milli)
		to[name] = quantity
	}
}

// limitFor is what a full node needs, or what was asked for where that is more.
func limitFor(requests corev1.ResourceList, settings memcached.Settings) resource.Quantity {
	needed := *resource.NewQuantity(memcached.ContainerMemory(settings), resource.BinarySI)
	if requested, ok := requests[corev1.ResourceMemory]; ok && requested.Cmp(needed) > 0 {
		return requested
	}
	return needed
}

// defaultCPU stays below a limit that is smaller than the default.
func defaultCPU(limits corev1.ResourceList) resource.Quantity {
	request := *resource.NewMilliQuantity(requestMilliCPU, resource.DecimalSI)
	if limit, ok := limits[corev1.ResourceCPU]; ok && limit.Cmp(request) < 0 {
		return limit
	}
	return request
}

func setDefault(list corev1.ResourceList, name corev1.ResourceName, quantity resource.Quantity) {
	if _, ok := list[name]; !ok {
		list[name] = quantity
	}
}
