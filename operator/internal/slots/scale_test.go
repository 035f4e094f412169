package slots

import (
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

func TestScaleDown(t *testing.T) {
	of := func(deployed int) func(*Input) { return func(in *Input) { in.Deployed = deployed } }
	check(t, map[string]situation{
		"first the slot is removed":                            {with(cache(holder("b0", 0), holder("b1", 1), holder("b2", 2)), of(3)), []string{"slot 2: removed", `b2: role "leave" shop-2`, "b2: cost -100", "b2: gate false"}},
		"the Deployment keeps its size while the Pod is ready": {with(cache(holder("b0", 0), holder("b1", 1), but(left("b2", 2), func(p *Pod) { p.Ready = true })), of(3)), nil},
		"and while it has no cost": {
			with(cache(holder("b0", 0), holder("b1", 1), but(left("b2", 2), func(p *Pod) { p.Cost = 0 })), of(3)), []string{"b2: cost -100"},
		},
		"then it is scaled down": {with(cache(holder("b0", 0), holder("b1", 1), left("b2", 2)), of(3)), []string{"replicas 2"}},
		"to zero": {
			with(cache(left("b0", 0)), func(in *Input) { in.Size, in.Deployed = 0, 1 }), []string{"replicas 0"},
		},
		"growing again calls the Pod back": {with(cache(holder("b0", 0), left("b1", 1)), of(2)), []string{`b1: role "" `, "b1: cost -50"}},
		"a Pod that gave its slot away is called back for one that terminates": {
			cache(holder("b0", 0), but(holder("b1", 1), terminating), left("b2", 2)), []string{`b2: role "" `, "b2: cost -50"},
		},
		"it grows immediately": {with(cache(holder("b0", 0)), of(1)), []string{"replicas 2"}},
	})
}

// TestASlotThatOnceMovedOverlapsWhenItIsRemoved makes a Pod that took its slot an hour ago give it away.
func TestASlotThatOnceMovedOverlapsWhenItIsRemoved(t *testing.T) {
	sent := func(p *Pod) {
		p.Instruction.Role = instruction.Send
		p.Instruction.Record.Began, p.Instruction.Record.MovedAt = noon.Add(-20*time.Second), noon.Add(-time.Hour)
		p.Instruction.Scale = instruction.Scale{Hash: "Ketama", Names: "shop-#", Before: 3, After: 2, Servers: "10.0.0.0 10.0.0.1"}
	}
	removed := func(in *Input) {
		in.Scaling, in.Listed = &Scaling{Hash: "Ketama", Names: "shop-#", Overlap: time.Minute}, 2
		in.Endpoints, in.Deployed = in.Endpoints[:2], 3
	}
	check(t, map[string]situation{
		"it follows what clients with the former list change": {
			with(cache(holder("b0", 0), holder("b1", 1), but(holder("b2", 2), sent)), removed),
			[]string{`b2: role "moved" shop-2`},
		},
	})
}

// TestANewSlotWaitsForTheFormerPodOfItsName: clients still use the former Pod, and no agent would remove keys from it
// that clients change in the new Pod.
func TestANewSlotWaitsForTheFormerPodOfItsName(t *testing.T) {
	grows := func(in *Input) {
		in.Scaling, in.Listed, in.Size = &Scaling{Hash: "Ketama", Names: "shop-#", Overlap: time.Minute}, 2, 3
		in.Deployed = 3
	}
	check(t, map[string]situation{
		"a new Pod copies": {
			with(cache(holder("b0", 0), holder("b1", 1), fresh("b3")), grows), []string{`b3: role "receive" shop-2`},
		},
		"but not yet": {
			with(cache(holder("b0", 0), holder("b1", 1), but(left("b2", 2), terminating), fresh("b3")), grows), []string{"b3: cost -50"},
		},
	})
}

// TestNoPodIsAddedForASlotWhoseOutdatedPodEnds: the Deployment would delete the outdated Pod only after the new Pod is
// available, and the new Pod waits for the end of the outdated one.
func TestNoPodIsAddedForASlotWhoseOutdatedPodEnds(t *testing.T) {
	in := cache(holder("b0", 0), left("a1", 1), but(fresh("b2"), func(p *Pod) { p.Cost = CostCandidate }))
	in.Size, in.Listed, in.Deployed, in.Scaling = 3, 1, 2, &Scaling{Hash: "Ketama", Names: "shop-#", Overlap: simOverlap}
	if d := Decide(in); d.Replicas != 1 {
		t.Errorf("%d replicas, want 1", d.Replicas)
	}
}
