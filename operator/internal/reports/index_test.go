package reports

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestTheCachesThatAreRead(t *testing.T) {
	tests := map[string]struct {
		spec cachev1.MemcachedSpec
		want []string
	}{
		"one whose use is not observed": {},
		"one whose use is observed":     {cachev1.MemcachedSpec{Autoscaling: &cachev1.Autoscaling{}}, []string{"true"}},
		"not while it is suspended":     {spec: cachev1.MemcachedSpec{Autoscaling: &cachev1.Autoscaling{}, Suspend: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, IndexOf(&cachev1.Memcached{Spec: test.spec})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
