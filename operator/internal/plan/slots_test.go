package plan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

// withSlots are the defaults of an operator that was installed with slots.
func withSlots() Defaults {
	defaults := newer
	defaults.Slots, defaults.Platform = true, Kubernetes
	return defaults
}

func cacheWithSlots(change func(*cachev1.Memcached)) *cachev1.Memcached {
	mc := &cachev1.Memcached{Spec: cachev1.MemcachedSpec{
		Size: new(int32(3)), Slots: &cachev1.Slots{Mode: cachev1.SlotsDNS}, Rollout: &cachev1.Rollout{},
	}}
	mc.Name, mc.Namespace = "cache", "team"
	if change != nil {
		change(mc)
	}
	return mc
}

func TestSlotsThatCannotBeAreRefused(t *testing.T) {
	without := withSlots()
	without.Slots = false
	tests := map[string]struct {
		change   func(*cachev1.Memcached)
		defaults Defaults
		want     string
	}{
		"an operator without slots": {nil, without, "overlays/components/slots"},
		"Pods that are deleted before their keys are copied": {
			func(mc *cachev1.Memcached) { mc.Spec.Rollout.MaxUnavailable = new(intstr.FromInt32(1)) }, withSlots(),
			`spec.rollout.maxUnavailable "1"`,
		},
		"a name that leaves no room": {
			func(mc *cachev1.Memcached) { mc.Name = strings.Repeat("a", 58) }, withSlots(), "a name of at most 57",
		},
		"a name that leaves no room for the number of a slot": {
			func(mc *cachev1.Memcached) { mc.Name, mc.Spec.Size = strings.Repeat("a", 60), new(int32(1000)) }, withSlots(),
			"metadata.name is too long for slots",
		},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			_, err := Compute(cacheWithSlots(tc.change), nothing, tc.defaults)
			if _, invalid := errors.AsType[*InvalidSpec](err); !invalid || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestTurningSlotsOnOrOffIsPending(t *testing.T) {
	turn := func(on bool) func(*cachev1.Memcached) {
		return func(mc *cachev1.Memcached) {
			mc.Spec.Slots.Mode = cachev1.SlotsDisabled
			if on {
				mc.Spec.Slots.Mode = cachev1.SlotsDNS
			}
		}
	}
	for sentence, tc := range map[string]struct {
		on      bool
		pending []string
	}{
		"on":  {true, []string{"slots off -> on"}},
		"off": {false, []string{"slots on -> off"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			mc := cacheWithSlots(turn(!tc.on))
			live := deployedBy(t, mc, withSlots())
			turn(tc.on)(mc)
			p, err := Compute(mc, currently(live), withSlots())
			if err != nil || (p.Slots != nil) == tc.on {
				t.Fatalf("slots %v, error %v", p.Slots, err)
			}
			if diff := cmp.Diff(tc.pending, p.Pending); diff != "" {
				t.Errorf("pending (-want +got):\n%s", diff)
			}
			mc.Annotations = map[string]string{cachev1.AnnotationUpdateRequested: "now"}
			if p, err = Compute(mc, currently(live), withSlots()); err != nil || (p.Slots != nil) != tc.on || len(p.Pending) > 0 {
				t.Errorf("after the request: slots %v, pending %v, error %v", p.Slots, p.Pending, err)
			}
		})
	}
}

func TestThePlanOfSlots(t *testing.T) {
	never := func(mc *cachev1.Memcached) { mc.Spec.Rollout.Handoff = cachev1.HandoffNever }
	single := func(mc *cachev1.Memcached) { mc.Spec.Size = new(int32(1)) }
	chosen := func(mc *cachev1.Memcached) {
		mc.Spec.Disruption = &cachev1.Disruption{MaxUnavailable: new(intstr.FromInt32(2))}
	}
	old := slots.Pod{Name: "cache-old", UID: "uid-old"}
	tests := map[string]struct {
		change   func(*cachev1.Memcached)
		current  CurrentSlots
		budget   string
		deadline int32
	}{
		"holds evictions back":                        {nil, CurrentSlots{NodesWatched: true}, "0", 1200},
		"holds evictions back of one Pod":             {single, CurrentSlots{NodesWatched: true}, "0", 1200},
		"holds none back if Nodes are not watched":    {nil, CurrentSlots{}, "1", 1200},
		"holds none back without handoff":             {never, CurrentSlots{NodesWatched: true}, "1", 1200},
		"holds none back while a Pod has no gate":     {nil, CurrentSlots{NodesWatched: true, Pods: []slots.Pod{old}}, "1", 1200},
		"leaves the budget to the spec if it says so": {chosen, CurrentSlots{NodesWatched: true}, "2", 1200},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			current, defaults := nothing, withSlots()
			current.Slots, defaults.Now = tc.current, time.Unix(1_800_000_000, 0)
			p, err := Compute(cacheWithSlots(tc.change), current, defaults)
			if err != nil {
				t.Fatal(err)
			}
			if p.Disruption.String() != tc.budget || p.Rollout.ProgressDeadlineSeconds != tc.deadline {
				t.Errorf("maxUnavailable %s, deadline %d", p.Disruption, p.Rollout.ProgressDeadlineSeconds)
			}
			if address := p.Slots.Slots[0].Address; address != "cache-0."+names.SlotService("cache")+".team.svc:11211" {
				t.Errorf("address %q", address)
			}
		})
	}
}
