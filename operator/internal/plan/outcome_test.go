package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

func TestAPlanIsBlockedOnlyByWhatItWaitsFor(t *testing.T) {
	automatic := func(mc *cachev1.Memcached) { mc.Spec.UpdatePolicy = cachev1.UpdateAutomatic }
	suspended := func(mc *cachev1.Memcached) { mc.Spec.Suspend = true }
	threads := func(mc *cachev1.Memcached) { mc.Spec.Threads = new(int32(7)) }
	noSecret := func(current *Current) { current.SecretsUsable = false }
	tests := map[string]struct {
		change   func(*cachev1.Memcached)
		current  func(*Current)
		operator Defaults
		want     Blocker
	}{
		"nothing changed": {operator: defaults},
		"an update is pending until it is requested":  {operator: newer},
		"an automatic update is queued":               {change: automatic, operator: newer, want: UpdateQueued},
		"updates are automatic, and none is pending":  {change: automatic, operator: defaults},
		"an automatic update whose Secret is missing": {change: automatic, current: noSecret, operator: newer, want: SecretUnusable},
		"the cache is suspended":                      {change: suspended, operator: newer},
		"a Secret is missing, and no Pod is replaced": {current: noSecret, operator: newer},
		"a Secret is missing, and Pods are replaced":  {change: threads, current: noSecret, operator: newer, want: SecretUnusable},
		"a Secret is missing, and no Pod exists":      {current: func(c *Current) { *c = Current{} }, operator: defaults, want: SecretUnusable},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			mc := memcachedWith(cachev1.MemcachedSpec{})
			current := currently(deployedBy(t, mc, defaults))
			change(mc, tc.change)
			change(&current, tc.current)
			outcome := undisturbed(t, mc, current, tc.operator)
			blocked, _ := outcome.(Blocked)
			if _, planned := Of(outcome); !planned || blocked.By != tc.want {
				t.Errorf("%T by %q, want %q", outcome, blocked.By, tc.want)
			}
		})
	}
}

// undisturbed returns the outcome for a cache; a cache with updatePolicy Automatic waits for the updates of other
// caches.
func undisturbed(t *testing.T, mc *cachev1.Memcached, current Current, defaults Defaults) Outcome {
	t.Helper()
	draft, err := Resolve(mc, current, defaults)
	if err != nil {
		t.Fatal(err)
	}
	if draft.ReplacesPods(hashed(draft.Pod)) {
		draft = draft.Updated()
	}
	return draft.Outcome(hashed(draft.Pod))
}

func TestAnInvalidSpecGivesNoPlan(t *testing.T) {
	mc := memcachedWith(cachev1.MemcachedSpec{Image: "not//an image"})
	outcome := undisturbed(t, mc, nothing, defaults)
	invalid, ok := outcome.(Invalid)
	if _, planned := Of(outcome); !ok || planned || len(invalid.Problems) != 1 || invalid.Kept != nil {
		t.Errorf("%T %+v", outcome, outcome)
	}
	if diff := cmp.Diff("cache.team.svc:11211", invalid.Endpoint); diff != "" {
		t.Errorf("endpoint (-want +got):\n%s", diff)
	}
}

func TestTheProblemsOfASpecAreInTheSameOrderEachTime(t *testing.T) {
	spec := cachev1.MemcachedSpec{CommonMetadata: &cachev1.Metadata{Labels: map[string]string{}}}
	for _, name := range []string{"a!", "b!", "c!", "d!", "e!", "f!", "g!", "h!"} {
		spec.CommonMetadata.Labels[name] = "x"
	}
	first := undisturbed(t, memcachedWith(spec), nothing, defaults)
	for range 20 {
		if diff := cmp.Diff(first, undisturbed(t, memcachedWith(spec), nothing, defaults)); diff != "" {
			t.Fatalf("another order (-first +now):\n%s", diff)
		}
	}
}

// TestADeploymentThatIsLostWhileASlotMovesIsRendered: there is no old template to keep.
func TestADeploymentThatIsLostWhileASlotMovesIsRendered(t *testing.T) {
	mc := cacheWithSlots(nil)
	deployedBy(t, mc, withSlots())
	mc.Spec.Threads = new(int32(7))
	current, now := nothing, time.Unix(1_800_000_000, 0)
	current.Slots = movingSlot(now)
	operator := withSlots()
	operator.Now = now
	if p, err := computed(mc, current, operator); err != nil || !p.Slots.Moving || p.Template != RenderTemplate {
		t.Errorf("template %d, error %v", p.Template, err)
	}
}

// movingSlot is the state that is observed after a Pod gave its slot away, and before that Pod is deleted.
func movingSlot(now time.Time) CurrentSlots {
	pod := func(name string, change func(*slots.Pod)) slots.Pod {
		pod := slots.Pod{Name: name, UID: name, Hash: "a", IP: "10.0.0.1", Gated: true, MemcachedReady: true, AgentReady: true}
		change(&pod)
		return pod
	}
	return CurrentSlots{
		Family:    corev1.IPv4Protocol,
		Endpoints: []slots.Endpoint{{Slot: 0, Pod: "new", UID: "new", IP: "10.0.0.1"}},
		Pods: []slots.Pod{
			pod("old", func(p *slots.Pod) {
				p.Instruction = instruction.Instruction{Role: instruction.Leave, Slot: "cache-0"}
			}),
			pod("new", func(p *slots.Pod) {
				p.Instruction = instruction.Instruction{
					Role: instruction.Moved, Slot: "cache-0", Record: instruction.Record{Predecessor: "old", MovedAt: now},
				}
			}),
		},
	}
}

// TestTurningSlotsOffWaitsForTheSecretsLikeTheRestOfThePods: until the Secrets are usable, Pods of the deployed
// template need their slots.
func TestTurningSlotsOffWaitsForTheSecretsLikeTheRestOfThePods(t *testing.T) {
	mc := cacheWithSlots(func(mc *cachev1.Memcached) { mc.Spec.Auth = &cachev1.Auth{SecretName: "users"} })
	current := currently(deployedBy(t, mc, withSlots()))
	mc.Spec.Slots, mc.Spec.Threads = nil, new(int32(7))
	current.SecretsUsable = false
	p, err := computed(mc, current, withSlots())
	if err != nil || p.Template != KeepTemplate || p.Slots == nil || !isZero(p.Rollout.MaxUnavailable) {
		t.Errorf("template %d, slots %v, rollout %+v, error %v", p.Template, p.Slots, p.Rollout, err)
	}
	current.SecretsUsable = true
	if p, err = computed(mc, current, withSlots()); err != nil || p.Template != RenderTemplate || p.Slots != nil {
		t.Errorf("with the Secret: template %d, slots %v, error %v", p.Template, p.Slots, err)
	}
}

// TestAnUpdateIsPendingWhileTheSpecCannotReplaceThePods: otherwise the queue would count the update as applied.
func TestAnUpdateIsPendingWhileTheSpecCannotReplaceThePods(t *testing.T) {
	mc := memcachedWith(cachev1.MemcachedSpec{UpdatePolicy: cachev1.UpdateAutomatic})
	current := currently(deployedBy(t, mc, defaults))
	mc.Spec.Threads = new(int32(7))
	for _, usable := range []bool{true, false} {
		current.SecretsUsable = usable
		draft, err := Resolve(mc, current, newer)
		if err != nil {
			t.Fatal(err)
		}
		if !draft.ReplacesPods(hashed(draft.Pod)) {
			t.Fatal("another number of threads replaces no Pods")
		}
		if draft = draft.Updated(); draft.IsPending() == usable {
			t.Errorf("Secrets usable %t: pending %t", usable, draft.IsPending())
		}
	}
}
