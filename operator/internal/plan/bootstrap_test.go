package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

func TestAServerOfTheCacheItselfIsRefused(t *testing.T) {
	for server, refuses := range map[string]bool{
		"cache:11211":                                         true,
		"CACHE.team.svc.:11211":                               true,
		"cache.team:11211":                                    true,
		"cache.team.svc.cluster.local:11211":                  true,
		"cache-2:11211":                                       true,
		"cache-2.team.svc.cluster.local:11211":                true,
		"cache-2.cache-slots:11211":                           true,
		"cache-2.cache-slots.team.svc:11211":                  true,
		"cache-slots.team:11211":                              true,
		"cache-slots:11211":                                   true,
		"cache.other.svc:11211":                               false,
		"cache-2.cache-slots.other.svc:11211":                 false,
		"cache-2.cache-memcached.team.svc:11211":              false,
		"old-cache.team.svc:11211":                            false,
		"cache-old.team.svc:11211":                            false,
		"cache-0.cache-slots.team.svc.example.net:1234":       true,
		"cache-0.cache-slots.team.svc.clusterset.local:11211": false, // an address in another cluster
	} {
		t.Run(server, func(t *testing.T) {
			mc := filled(cachev1.BootstrapFollow)
			mc.Spec.Bootstrap.From.Servers[0] = server
			_, err := computed(mc, nothing, withSlots())
			if is := strings.Contains(fmt.Sprint(err), "is a slot of this cache, and the copy would remove its keys"); is != refuses {
				t.Errorf("refused: %v, want %v: %v", is, refuses, err)
			}
		})
	}
}

// filled is a cache with slots that is filled from two servers.
func filled(mode cachev1.BootstrapMode) *cachev1.Memcached {
	return cacheWithSlots(func(mc *cachev1.Memcached) {
		mc.Spec.Slots.ClientHash = cachev1.HashKetama
		mc.Spec.Bootstrap = &cachev1.Bootstrap{Mode: mode, From: cachev1.BootstrapSource{
			Servers: []string{"old-0.old.svc:11211", "[fd00::1]:11211"},
		}}
	})
}

func TestABootstrapThatCannotBeIsRefused(t *testing.T) {
	tests := map[string]struct {
		change func(*cachev1.Memcached)
		want   string
	}{
		"a server without a host": {
			func(mc *cachev1.Memcached) { mc.Spec.Bootstrap.From.Servers[1] = "11211" },
			`spec.bootstrap.from.servers[1] "11211" is no server: write HOST:PORT`,
		},
		"a port that does not exist": {
			func(mc *cachev1.Memcached) { mc.Spec.Bootstrap.From.Servers[0] = "old:70000" },
			`spec.bootstrap.from.servers[0] "old:70000" is no server`,
		},
		"a server twice": {
			func(mc *cachev1.Memcached) { mc.Spec.Bootstrap.From.Servers[1] = "old-0.old.svc:11211" },
			`spec.bootstrap.from.servers[1] "old-0.old.svc:11211" is listed twice`,
		},
		"no hash of the clients": {
			func(mc *cachev1.Memcached) { mc.Spec.Slots.ClientHash = "" },
			"spec.bootstrap needs spec.slots.clientHash",
		},
		"no slots": {
			func(mc *cachev1.Memcached) { mc.Spec.Slots = nil }, "spec.bootstrap needs spec.slots.clientHash",
		},
		"a name that leaves no room": {
			func(mc *cachev1.Memcached) { mc.Name = strings.Repeat("a", 54) },
			"metadata.name is too long for bootstrap",
		},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			mc := filled(cachev1.BootstrapFollow)
			tc.change(mc)
			_, err := computed(mc, nothing, withSlots())
			if _, invalid := errors.AsType[refused](err); !invalid || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestThePhaseOfABootstrapOnlyGoesForward(t *testing.T) {
	tests := map[string]struct {
		mode  cachev1.BootstrapMode
		pod   *BootstrapPod
		moved bool
		want  instruction.Phase
	}{
		"a new Pod follows":                           {cachev1.BootstrapFollow, &BootstrapPod{}, false, instruction.PhaseFollow},
		"no Pod yet":                                  {cachev1.BootstrapFollow, nil, false, instruction.PhaseFollow},
		"the user cuts over":                          {cachev1.BootstrapCutOver, &BootstrapPod{Phase: "follow"}, false, instruction.PhaseCutOver},
		"a new Pod that is cut over copies first":     {cachev1.BootstrapCutOver, &BootstrapPod{}, false, instruction.PhaseCutOver},
		"ready, and that is not recorded yet":         {cachev1.BootstrapCutOver, &BootstrapPod{Phase: "cutOver", Ready: true}, false, instruction.PhaseCutOver},
		"ready, and that is recorded":                 {cachev1.BootstrapCutOver, &BootstrapPod{Phase: "cutOver", Ready: true}, true, instruction.PhaseMoved},
		"a new Pod of a cache that was cut over":      {cachev1.BootstrapCutOver, &BootstrapPod{}, true, instruction.PhaseMoved},
		"never back to following":                     {cachev1.BootstrapFollow, &BootstrapPod{Phase: "cutOver"}, false, instruction.PhaseCutOver},
		"a phase that another client wrote is none":   {cachev1.BootstrapFollow, &BootstrapPod{Phase: "forward"}, false, instruction.PhaseFollow},
		"moved stays, although the record was edited": {cachev1.BootstrapCutOver, &BootstrapPod{Phase: "moved"}, false, instruction.PhaseMoved},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			current := nothing
			current.Bootstrap = CurrentBootstrap{Deployment: &appsv1.Deployment{}, Moved: tc.moved, Pod: tc.pod}
			p, err := computed(filled(tc.mode), current, withSlots())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, p.Bootstrap.Phase); diff != "" {
				t.Errorf("phase (-want +got):\n%s", diff)
			}
		})
	}
}

func TestABootstrapBeginsOnceEachSlotHasAPod(t *testing.T) {
	d := Draft{memcached: filled(cachev1.BootstrapFollow)}
	decided := &Slots{Decision: slots.Decision{Slots: []slots.Status{{Name: "cache-0", Pod: "a"}, {Name: "cache-1"}}}}
	if !d.decideBootstrap(decided).Waits {
		t.Error("it begins although a slot has no Pod")
	}
	decided.Decision.Slots[1].Pod = "b"
	if d.decideBootstrap(decided).Waits {
		t.Error("it waits although each slot has a Pod")
	}
	decided.Decision.Slots[1].Pod = ""
	d.current.Bootstrap.Deployment = &appsv1.Deployment{}
	if d.decideBootstrap(decided).Waits {
		t.Error("the Deployment is deleted when a slot loses its Pod")
	}
	if !d.decideBootstrap(&Slots{}).Waits {
		t.Error("it begins without slots")
	}
}

func TestAChangeOfTheSpecWaitsWhileClientsMayUseBoth(t *testing.T) {
	mc := filled(cachev1.BootstrapCutOver)
	live := deployedBy(t, mc, withSlots())
	current := currently(live)
	current.Bootstrap = CurrentBootstrap{Deployment: &appsv1.Deployment{}, Moved: true}
	current.Slots.Listed = 3
	mc.Spec.Size, mc.Spec.Threads = new(int32(5)), new(int32(8))
	draft, err := Resolve(mc, current, withSlots())
	if err != nil {
		t.Fatal(err)
	}
	outcome, blocked := draft.Outcome("another").(Blocked)
	if !blocked || outcome.By != KeysMove || outcome.Plan.Size != 3 || outcome.Plan.Bootstrap.Kept == nil {
		t.Errorf("got %+v", outcome)
	}
	mc.Spec.Bootstrap = nil
	if draft, err = Resolve(mc, current, withSlots()); err != nil {
		t.Fatal(err)
	}
	if p, _ := Of(draft.Outcome("another")); p.Size != 5 || p.Template != RenderTemplate || p.Bootstrap != nil {
		t.Errorf("after the bootstrap: %+v", p)
	}
}
