package plan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestThreadsFollowTheCPUs(t *testing.T) {
	tests := map[string]struct {
		threads        *int32
		request, limit string
		want           int32
	}{
		"nothing is set: memcached's default": {want: 4},
		"a small request":                     {request: "50m", want: 4},
		"each requested CPU gets a thread":    {request: "7500m", want: 8},
		"a CPU limit has no more threads":     {limit: "1500m", want: 2},
		"a limit below one CPU":               {request: "10m", limit: "20m", want: 1},
		"a limit above the request":           {request: "6", limit: "16", want: 6},
		"a limit alone, of many CPUs":         {limit: "16", want: 4},
		"a large Node":                        {request: "100", limit: "200", want: 64},
		"threads of the spec stay":            {threads: new(int32(4)), request: "100", limit: "1", want: 4},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			resources := &cachev1.MemcachedResources{}
			resources.Requests, resources.Limits = cpu(tc.request), cpu(tc.limit)
			if got := Threads(cachev1.MemcachedSpec{Threads: tc.threads, Resources: resources}); got != tc.want {
				t.Errorf("%d threads, want %d", got, tc.want)
			}
		})
	}
	if got := Threads(cachev1.MemcachedSpec{}); got != 4 {
		t.Errorf("without resources: %d threads", got)
	}
}

func cpu(quantity string) corev1.ResourceList {
	if quantity == "" {
		return nil
	}
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(quantity)}
}
