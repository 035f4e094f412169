package slots

import (
	"testing"
	"time"
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
		"it grows at once":                 {with(cache(holder("b0", 0)), of(1)), []string{"replicas 2"}},
	})
}

func TestCordonedNodes(t *testing.T) {
	seen := func(ago time.Duration) func(*Pod) {
		return func(p *Pod) { p.OnCordonedNode, p.Instruction.Record.CordonedSince = true, noon.Add(-ago) }
	}
	extra := func(in *Input) { in.Deployed = 3 }
	waitsCordoned := func(p *Pod) { p.OnCordonedNode, p.Cost = true, CostCandidate }
	check(t, map[string]situation{
		"a holder on a cordoned Node gets a Pod more, and its time begins": {cache(but(holder("b0", 0), cordoned), holder("b1", 1)), []string{`b0: role "serve" shop-0`, "replicas 3"}},
		"the Pod more copies it":     {with(cache(but(holder("b0", 0), seen(time.Second)), holder("b1", 1), fresh("b2")), extra), []string{`b2: role "receive" shop-0`, "b2: cost -50"}},
		"but not on a cordoned Node": {with(cache(but(holder("b0", 0), seen(time.Second)), holder("b1", 1), but(fresh("b2"), cordoned)), extra), []string{"b2: cost -50"}},
		"when it gave its slot away the size is normal again": {
			with(cache(but(left("b0", 0), cordoned), holder("b1", 1), but(holder("b2", 0), func(*Pod) {})), extra), []string{"replicas 2"},
		},
		"a second one waits until the first is deleted": {
			with(cache(but(left("b0", 0), cordoned), but(holder("b1", 1), seen(time.Second)), holder("b2", 0)), extra), []string{"replicas 2"},
		},
		"after the timeout it may be evicted":    {cache(but(holder("b0", 0), seen(time.Minute)), holder("b1", 1)), []string{"evictions are allowed"}},
		"a copy in progress continues even then": {with(cache(but(holder("b0", 0), seen(time.Minute)), holder("b1", 1), copying("b2", "b0", 0, 0)), extra), []string{"evictions are allowed"}},
		"a Pod that tolerates the cordon may land there again: the Pod more takes no slot": {
			with(cache(but(holder("b0", 0), seen(time.Second)), holder("b1", 1), but(fresh("b2"), waitsCordoned)), extra), nil,
		},
		"and is deleted after the timeout": {
			with(cache(but(holder("b0", 0), seen(time.Minute)), holder("b1", 1), but(fresh("b2"), waitsCordoned)), extra),
			[]string{"replicas 2", "evictions are allowed"},
		},
		"and not created again":              {cache(but(holder("b0", 0), seen(time.Hour)), holder("b1", 1)), []string{"evictions are allowed"}},
		"an uncordoned Node ends it":         {with(cache(but(holder("b0", 0), func(p *Pod) { seen(time.Second)(p); p.OnCordonedNode = false }), holder("b1", 1), copying("b2", "b0", 0, 0)), extra), []string{`b0: role "serve" shop-0`, `b2: role "" `, "replicas 2"}},
		"in a rollout no Pod more is needed": {cache(but(holder("a0", 0), seen(time.Second)), holder("b1", 1)), nil},
		"in a rollout a cordoned Pod is copied first": {
			cache(holder("a0", 0), but(holder("a1", 1), seen(time.Second)), fresh("b2")), []string{`b2: role "receive" shop-1`, "b2: cost -50"},
		},
		"in a rollout a current Pod on a cordoned Node waits": {
			cache(holder("a0", 0), but(holder("b1", 1), seen(time.Second)), fresh("b2")), []string{`b2: role "receive" shop-0`, "b2: cost -50"},
		},
		"with Never nothing waits for a Pod on a cordoned Node": {
			with(cache(but(holder("b0", 0), cordoned), holder("b1", 1)), func(in *Input) { in.Handoff = false }), nil,
		},
		"a Pod without the gate may be evicted from a cordoned Node": {
			cache(holder("b0", 0), holder("b1", 1), but(fresh("a2"), func(p *Pod) { p.Gated, p.OnCordonedNode = false, true })), []string{"evictions are allowed"},
		},
	})
}
