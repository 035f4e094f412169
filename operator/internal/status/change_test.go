package status

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// rollingOutOf returns the status of a cache of this size while Pods are replaced.
func rollingOutOf(size, replaced int) cachev1.MemcachedStatus {
	status := cachev1.MemcachedStatus{Replicas: int32(size), ReadyReplicas: int32(size)}
	for i := range size {
		generation := "b"
		if i < replaced {
			generation = "a"
		}
		status.Nodes = append(status.Nodes, fmt.Sprintf("cache-%s-%03d", generation, i))
	}
	for i := range size {
		slot := cachev1.SlotStatus{Name: fmt.Sprintf("cache-%d", i), State: cachev1.SlotServing, Since: &metav1.Time{}}
		status.Slots = append(status.Slots, slot)
	}
	status.Conditions = []metav1.Condition{{
		Type: cachev1.ConditionReady, Status: metav1.ConditionFalse, Reason: cachev1.ReasonRollingOut,
		Message: fmt.Sprintf("%d of %d Pods replaced", replaced, size),
	}}
	return status
}

func TestAChangeOfPodsInARolloutIsNotUrgent(t *testing.T) {
	ready := func(s *cachev1.MemcachedStatus) {
		meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: cachev1.ConditionReady, Status: metav1.ConditionTrue, Reason: "x"})
	}
	copying := func(s *cachev1.MemcachedStatus, count int) {
		for i := range count {
			s.Slots[i].State = cachev1.SlotCopying
		}
	}
	again := func(s *cachev1.MemcachedStatus, count int) {
		for i := range count {
			s.Slots[i].Since = &metav1.Time{Time: noon}
		}
	}
	tests := map[string]struct {
		size, replaced int
		change         func(*cachev1.MemcachedStatus)
		want           Change
	}{
		"a Pod of a hundred was replaced": {size: 100, replaced: 41, want: Minor},
		"19 of a hundred":                 {size: 100, replaced: 59, want: Minor},
		"20 of a hundred":                 {size: 100, replaced: 60, want: Progress},
		"the message alone":               {size: 100, replaced: 40, change: func(s *cachev1.MemcachedStatus) { s.Conditions[0].Message = "50 of 100 Pods replaced" }, want: Minor},
		"a Pod of a small cache":          {size: 19, replaced: 11},
		"19 Pods were deleted":            {size: 100, replaced: 40, want: Minor, change: func(s *cachev1.MemcachedStatus) { s.Nodes = s.Nodes[19:] }},
		"20 Pods were deleted":            {size: 100, replaced: 40, want: Progress, change: func(s *cachev1.MemcachedStatus) { s.Nodes = s.Nodes[20:] }},
		"20 Pods are not ready":           {size: 100, replaced: 41, want: Progress, change: func(s *cachev1.MemcachedStatus) { s.ReadyReplicas -= 20 }},
		"19 slots changed":                {size: 100, replaced: 40, want: Minor, change: func(s *cachev1.MemcachedStatus) { copying(s, 19) }},
		"20 slots changed":                {size: 100, replaced: 40, want: Progress, change: func(s *cachev1.MemcachedStatus) { copying(s, 20) }},
		"20 slots changed again":          {size: 100, replaced: 40, want: Progress, change: func(s *cachev1.MemcachedStatus) { again(s, 20) }},
		"25 slots more":                   {size: 100, replaced: 40, want: Progress, change: func(s *cachev1.MemcachedStatus) { s.Slots = append(s.Slots, make([]cachev1.SlotStatus, 25)...) }},
		"25 Pods more":                    {size: 100, replaced: 41, want: Progress, change: func(s *cachev1.MemcachedStatus) { s.Replicas += 25 }},
		"the cache is Ready":              {size: 100, replaced: 41, change: ready},
		"the reason is another one":       {size: 100, replaced: 41, change: func(s *cachev1.MemcachedStatus) { s.Conditions[0].Reason = cachev1.ReasonPodsNotReady }},
		"the message has another problem": {size: 100, replaced: 41, change: func(s *cachev1.MemcachedStatus) { s.Conditions[0].Message += "; 1 Pod: no room" }},
		"another condition comes": {size: 100, replaced: 41, change: func(s *cachev1.MemcachedStatus) {
			s.Conditions = append(s.Conditions, metav1.Condition{Type: "Stalled"})
		}},
		"the generation is another one": {size: 100, replaced: 41, change: func(s *cachev1.MemcachedStatus) { s.ObservedGeneration++ }},
		"the endpoint is another one":   {size: 100, replaced: 41, change: func(s *cachev1.MemcachedStatus) { s.Endpoint = "x" }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			old, now := rollingOutOf(tc.size, min(tc.size, 40)), rollingOutOf(tc.size, tc.replaced)
			if tc.change != nil {
				tc.change(&now)
			}
			mc := &cachev1.Memcached{Spec: cachev1.MemcachedSpec{Size: new(int32(tc.size))}, Status: old}
			if got := ChangeOf(mc, now); got != tc.want {
				t.Errorf("ChangeOf = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestTheFirstPodsOfALargeCacheAreMinor(t *testing.T) {
	mc := &cachev1.Memcached{Spec: cachev1.MemcachedSpec{Size: new(int32(100))}, Status: rollingOutOf(0, 0)}
	for pods, want := range map[int]Change{1: Minor, 19: Minor, 20: Progress} {
		if got := ChangeOf(mc, rollingOutOf(pods, 0)); got != want {
			t.Errorf("%d Pods: ChangeOf = %v, want %v", pods, got, want)
		}
	}
}
