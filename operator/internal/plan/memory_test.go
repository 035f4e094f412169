package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

// resizable is the spec of a cache whose running Pods get another memory.
func resizable(memory string) cachev1.MemcachedSpec {
	return cachev1.MemcachedSpec{
		Memory: new(resource.MustParse(memory)), Slots: &cachev1.Slots{},
		Rollout: &cachev1.Rollout{MemoryChange: cachev1.MemoryResize},
	}
}

// TestTheMemoryOfRunningPods changes a cache whose Pods started with 64Mi, and were given 128Mi since.
func TestTheMemoryOfRunningPods(t *testing.T) {
	const mib = memcached.Mebibyte
	infeasible := []slots.Pod{{Name: "b0", Hash: "b", ResizeRefused: corev1.PodReasonInfeasible}}
	tests := map[string]struct {
		change  func(*cachev1.MemcachedSpec)
		current func(*Current)
		want    int64 // that Pods start with
	}{
		"another memory replaces no Pod":             {change: func(s *cachev1.MemcachedSpec) { s.Memory = new(resource.MustParse("1Gi")) }, want: 64 * mib},
		"less than they started with, neither":       {change: func(s *cachev1.MemcachedSpec) { s.Memory = new(resource.MustParse("32Mi")) }, want: 64 * mib},
		"another change gives new Pods the memory":   {change: func(s *cachev1.MemcachedSpec) { s.Threads = new(int32(2)) }, want: 128 * mib},
		"without the mode, new Pods have the memory": {change: func(s *cachev1.MemcachedSpec) { s.Rollout = nil }, want: 128 * mib},
		"without slots, too":                         {change: func(s *cachev1.MemcachedSpec) { s.Slots = nil }, want: 128 * mib},
		"a Node that never has room": {
			current: func(c *Current) { c.Slots.Pods, c.Slots.Hash = infeasible, "b" }, want: 128 * mib,
		},
		"a Node that never has room for a Pod of another template": {
			current: func(c *Current) { c.Slots.Pods, c.Slots.Hash = infeasible, "c" }, want: 64 * mib,
		},
		"an item that fits since": {change: func(s *cachev1.MemcachedSpec) { s.MaxItemSize = new(resource.MustParse("60Mi")) }, want: 128 * mib},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			mc := memcachedWith(resizable("64Mi"))
			live := deployedBy(t, mc, defaults)
			mc.Spec.Memory = new(resource.MustParse("128Mi"))
			before, err := computed(mc, currently(live), defaults)
			if err != nil || before.Record.Memory != 64*mib || before.Memcached.ItemMemory != 64*mib {
				t.Fatalf("%v; the Pods start with %d", err, before.Record.Memory)
			}
			current := currently(live)
			if tc.change != nil {
				tc.change(&mc.Spec)
			}
			if tc.current != nil {
				tc.current(&current)
			}
			p, err := computed(mc, current, defaults)
			if diff := cmp.Diff(tc.want, p.Memcached.ItemMemory); err != nil || diff != "" {
				t.Errorf("%v; the memory at the start (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestTheModeAndTheMemoryMayChangeTogether, as in one commit: no Pod is replaced.
func TestTheModeAndTheMemoryMayChangeTogether(t *testing.T) {
	spec := resizable("64Mi")
	spec.Rollout = nil
	mc := memcachedWith(spec)
	live := deployedBy(t, mc, defaults)
	live.Spec.Template.Spec.Containers = []corev1.Container{{Name: "memcached", Args: []string{"--memory-limit=64"}}}
	mc.Spec = resizable("128Mi")
	p, err := computed(mc, currently(live), defaults)
	if err != nil || p.Memcached.ItemMemory != 64*memcached.Mebibyte {
		t.Errorf("%v; the Pods start with %d", err, p.Memcached.ItemMemory)
	}
}

// TestAnotherMemoryHasToFitTheLimit, though no Pod is replaced for it.
func TestAnotherMemoryHasToFitTheLimit(t *testing.T) {
	spec := resizable("64Mi")
	spec.Resources = &cachev1.MemcachedResources{}
	spec.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("310Mi")}
	mc := memcachedWith(spec)
	live := deployedBy(t, mc, defaults)
	mc.Spec.Memory = new(resource.MustParse("128Mi"))
	_, err := computed(mc, currently(live), defaults)
	const want = `spec.resources.limits.memory "310Mi" is less than a full Pod needs`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
