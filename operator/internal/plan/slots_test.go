package plan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// withSlots are the defaults of an operator whose platform is known.
func withSlots() Defaults {
	defaults := newer
	defaults.Platform = Kubernetes
	return defaults
}

// withoutRights are the defaults of an operator that does not have the rights for slots.
func withoutRights() Defaults {
	defaults := withSlots()
	defaults.MissingRights = []string{"patch pods", "delete services"}
	return defaults
}

func cacheWithSlots(change func(*cachev1.Memcached)) *cachev1.Memcached {
	mc := &cachev1.Memcached{Spec: cachev1.MemcachedSpec{
		Size: new(int32(3)), Slots: &cachev1.Slots{Handoff: &cachev1.Handoff{}}, Rollout: &cachev1.Rollout{},
	}}
	mc.Name, mc.Namespace = "cache", "team"
	if change != nil {
		change(mc)
	}
	return mc
}

func TestSlotsThatCannotBeAreRefused(t *testing.T) {
	tests := map[string]struct {
		change   func(*cachev1.Memcached)
		defaults Defaults
		want     string
	}{
		"an operator without the rights": {nil, withoutRights(), "(patch pods, delete services): remove the component overlays/components/without-slots"},
		"Pods that are deleted before their keys are copied": {
			func(mc *cachev1.Memcached) { mc.Spec.Rollout.MaxUnavailable = new(intstr.FromInt32(1)) }, withSlots(),
			`spec.rollout.maxUnavailable "1"`,
		},
		"a memcached that ends the agent's connections": {
			func(mc *cachev1.Memcached) { mc.Spec.ExtraArgs = []string{"--extended=idle_timeout=5"} }, withSlots(),
			`spec.extraArgs: "--extended=idle_timeout=5" sets idle_timeout`,
		},
		"a memcached that cannot be emptied, even without handoff": {
			func(mc *cachev1.Memcached) {
				mc.Spec.ExtraArgs, mc.Spec.Slots.Handoff.Mode = []string{"-vF"}, cachev1.HandoffNever
			}, withSlots(), `spec.extraArgs: "-vF" sets disable-flush-all`,
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
			_, err := computed(cacheWithSlots(tc.change), nothing, tc.defaults)
			if _, invalid := errors.AsType[refused](err); !invalid || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestTurningSlotsOnOrOffIsPending(t *testing.T) {
	turn := func(on bool) func(*cachev1.Memcached) {
		return func(mc *cachev1.Memcached) {
			mc.Spec.Slots = nil
			if on {
				mc.Spec.Slots = &cachev1.Slots{}
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
			p, err := computed(mc, currently(live), withSlots())
			if err != nil || (p.Slots != nil) == tc.on {
				t.Fatalf("slots %v, error %v", p.Slots, err)
			}
			if diff := cmp.Diff(tc.pending, p.Pending); diff != "" {
				t.Errorf("pending (-want +got):\n%s", diff)
			}
			mc.Annotations = map[string]string{cachev1.AnnotationUpdateRequested: "now"}
			if p, err = computed(mc, currently(live), withSlots()); err != nil || (p.Slots != nil) != tc.on || len(p.Pending) > 0 {
				t.Errorf("after the request: slots %v, pending %v, error %v", p.Slots, p.Pending, err)
			}
		})
	}
}

func TestARefusedSpecKeepsTheSlotsThatThereAre(t *testing.T) {
	addresses := func(below string) []cachev1.SlotStatus {
		return []cachev1.SlotStatus{
			{Name: "cache-0", Address: "cache-0." + below + ":11211"}, {Name: "cache-1", Address: "cache-1." + below + ":11211"},
		}
	}
	for sentence, tc := range map[string]struct {
		reported []cachev1.SlotStatus
		size     int32
		services bool
	}{
		"with host names":                {addresses("cache-slots.team.svc"), 2, false},
		"with a Service each":            {addresses("team.svc"), 2, true},
		"before the status reports them": {nil, 5, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			mc := cacheWithSlots(nil)
			live := deployedBy(t, mc, withSlots())
			mc.Spec.Size = new(int32(5))
			mc.Spec.Rollout.MaxUnavailable = new(intstr.FromInt32(1))
			mc.Status.Slots = tc.reported
			outcome, err := decided(mc, currently(live), withSlots())
			refused, invalid := outcome.(Invalid)
			if !invalid || refused.Kept == nil || err != nil {
				t.Fatalf("%+v, error %v", outcome, err)
			}
			p := refused.Kept
			if p.Size != tc.size || len(p.Slots.Slots) != int(tc.size) || p.Slots.Services != tc.services {
				t.Errorf("size %d, slots %+v", p.Size, p.Slots)
			}
			outcome, err = decided(mc, currently(live), withoutRights())
			if refused, invalid = outcome.(Invalid); !invalid || refused.Kept != nil || err != nil {
				t.Errorf("an operator without the rights keeps none: %+v, error %v", refused.Kept, err)
			}
		})
	}
}

func TestThePlanOfSlots(t *testing.T) {
	single := func(mc *cachev1.Memcached) { mc.Spec.Size = new(int32(1)) }
	chosen := func(mc *cachev1.Memcached) {
		mc.Spec.Disruption = &cachev1.Disruption{MaxUnavailable: new(intstr.FromInt32(2))}
	}
	tests := map[string]struct {
		change   func(*cachev1.Memcached)
		budget   *intstr.IntOrString
		deadline int32
	}{
		"lets one Pod at a time be evicted, as without slots": {nil, new(intstr.FromInt32(1)), 1200},
		"has no budget for one Pod":                           {single, nil, 1200},
		"leaves the budget to the spec if it says so":         {chosen, new(intstr.FromInt32(2)), 1200},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			current, defaults := nothing, withSlots()
			defaults.Now = time.Unix(1_800_000_000, 0)
			p, err := computed(cacheWithSlots(tc.change), current, defaults)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.budget, p.Disruption); diff != "" || p.Rollout.ProgressDeadlineSeconds != tc.deadline {
				t.Errorf("deadline %d, maxUnavailable (-want +got):\n%s", p.Rollout.ProgressDeadlineSeconds, diff)
			}
			if address := p.Slots.Slots[0].Address; address != "cache-0."+names.SlotService("cache")+".team.svc:11211" {
				t.Errorf("address %q", address)
			}
		})
	}
}

// TestScaledToNothingTheCacheHasNoRecord: a cache that is scaled to 0 keeps the record until the last slot is removed.
// Then the cache has no record, like a cache that was created without Pods.
func TestScaledToNothingTheCacheHasNoRecord(t *testing.T) {
	current := nothing
	current.Slots = CurrentSlots{Family: corev1.IPv4Protocol}
	for size, want := range map[int32]corev1.IPFamily{0: "", 3: corev1.IPv4Protocol} {
		p, err := computed(cacheWithSlots(func(mc *cachev1.Memcached) { mc.Spec.Size = &size }), current, withSlots())
		if err != nil || p.Slots.Family != want {
			t.Errorf("size %d: family %q, want %q; error %v", size, p.Slots.Family, want, err)
		}
	}
}

func TestAnotherTemplateWaitsWhileASlotMoves(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for ends, want := range map[bool]TemplateChange{false: KeepTemplate, true: RenderTemplate} {
		mc := cacheWithSlots(nil)
		current := currently(deployedBy(t, mc, withSlots()))
		current.Slots = movingSlot(now)
		current.Slots.Pods[0].Terminating, current.Slots.Pods[1].Ready = ends, ends
		mc.Spec.Threads = new(int32(7))
		defaults := withSlots()
		defaults.Now = now
		outcome, err := decided(mc, current, defaults)
		p, _ := Of(outcome)
		if blocked, _ := outcome.(Blocked); err != nil || p.Template != want || (blocked.By == SlotMoves) == ends {
			t.Errorf("the predecessor ends %t: template %d, want %d; blocked by %q, error %v", ends, p.Template, want, blocked.By, err)
		}
	}
}
