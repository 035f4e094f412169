package app

import (
	"context"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// informers records which informers were requested; those in filled have synced.
type informers struct {
	cache.Informers
	filled map[string]bool
	asked  map[string]int
}

type informer struct {
	cache.Informer
	of   *informers
	kind string
}

func (i informer) HasSynced() bool { return i.of.filled[i.kind] }

func (i *informers) GetInformer(
	_ context.Context, object client.Object, _ ...cache.InformerGetOption,
) (cache.Informer, error) {
	kind := fmt.Sprintf("%T", object)
	i.asked[kind]++
	return informer{of: i, kind: kind}, nil
}

func TestAnOperatorIsReadyWhenTheCachesAreFilledThatItNeeds(t *testing.T) {
	base := []string{"*v1.Memcached", "*v1.Pod"}
	all := append([]string{"*v1.Service", "*v1.Deployment", "*v1.NetworkPolicy", "*v1.PodDisruptionBudget"}, base...)
	tests := map[string]struct {
		leads  bool
		filled []string
		want   string
	}{
		"it has just started":                   {want: "the caches of these kinds are not synced yet: Memcached, Pod"},
		"it stands by":                          {filled: base},
		"it stands by, and Pods are not there":  {filled: base[:1], want: "the caches of these kinds are not synced yet: Pod"},
		"it leads":                              {leads: true, filled: all},
		"it leads, and is about to fill caches": {leads: true, filled: append(base, "*v1.Service"), want: "the caches of these kinds are not synced yet: Deployment, NetworkPolicy, PodDisruptionBudget"},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			of := &informers{filled: map[string]bool{}, asked: map[string]int{}}
			for _, kind := range tc.filled {
				of.filled[kind] = true
			}
			elected := make(chan struct{})
			if tc.leads {
				close(elected)
			}
			filled := &caches{informers: of, leads: elected, known: map[string]cache.Informer{}}
			for range 3 {
				if err := filled.check(t.Context()); (err == nil) != (tc.want == "") || err != nil && err.Error() != tc.want {
					t.Errorf("got %v, want %q", err, tc.want)
				}
			}
			for kind, times := range of.asked {
				if times != 1 {
					t.Errorf("the informer of %s is requested %d times", kind, times)
				}
				if !tc.leads && kind != base[0] && kind != base[1] {
					t.Errorf("an operator that stands by starts the informer of %s", kind)
				}
			}
		})
	}
}
