package slots

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

func TestFreeSlots(t *testing.T) {
	check(t, map[string]situation{
		"at rest nothing changes":                       {cache(holder("b0", 0), holder("b1", 1)), nil},
		"new Pods get the free slots, the oldest first": {cache(fresh("b0"), fresh("b1")), []string{`b0: role "serve" shop-0`, `b1: role "serve" shop-1`}},
		"a Pod whose memcached is not ready waits":      {cache(holder("b0", 0), but(fresh("b1"), func(p *Pod) { p.MemcachedReady = false })), nil},
		"a Pod takes its slot when its agent is ready":  {cache(holder("b0", 0), but(instructed("b1", instruction.Serve, 1), copied)), []string{"slot 1: b1, ready true"}},
		"a Pod in the slice gets the gate":              {cache(holder("b0", 0), but(holder("b1", 1), func(p *Pod) { p.GateTrue, p.Ready = false, false })), []string{"b1: gate true"}},
		"a Pod of the current template goes first": {
			cache(holder("b0", 0), fresh("a1"), fresh("b2")), []string{"a1: cost -50", `b2: role "serve" shop-1`},
		},
		"an outdated Pod that is not ready for a free slot leaves it to one of the current template": {
			cache(holder("b0", 0), instructed("a1", instruction.Serve, 1), fresh("b2")),
			[]string{`a1: role "" `, "a1: cost -50", `b2: role "serve" shop-1`},
		},
		"as many as there are": {
			cache(instructed("a0", instruction.Serve, 0), instructed("a1", instruction.Serve, 1), fresh("b2")),
			[]string{`a0: role "" `, "a0: cost -50", `b2: role "serve" shop-0`},
		},
		"not if no other can take it": {cache(holder("b0", 0), instructed("a1", instruction.Serve, 1)), nil},
		"not if it is ready for it": {
			cache(holder("b0", 0), but(instructed("a1", instruction.Serve, 1), copied), fresh("b2")), []string{"slot 1: a1, ready true", "b2: cost -50"},
		},
		"a Pod without the gate takes no part": {cache(holder("b0", 0), but(fresh("a1"), func(p *Pod) { p.Gated = false })), nil},
		"an ended holder's slot is not ready, and the next Pod is cold": {
			cache(holder("b0", 0), but(holder("b1", 1), func(p *Pod) { p.Ended = true }), fresh("b2")),
			[]string{"slot 1: b1, ready false", `b2: role "serve" shop-1 PodLost`},
		},
		"a Pod of the same name with another uid is another Pod": {
			cache(holder("b0", 0), but(holder("b1", 1), func(p *Pod) { p.Ended = true }), but(fresh("b1"), func(p *Pod) { p.UID = "other" })),
			[]string{"slot 1: b1, ready false", `b1: role "serve" shop-1 PodLost`},
		},
		"a slice that was deleted is restored from the Pods": {
			with(cache(holder("b0", 0), holder("b1", 1)), func(in *Input) { in.Endpoints = nil }),
			[]string{"slot 0: b0, ready true", "slot 1: b1, ready true"},
		},
		"a Pod that another client put into the slice twice keeps one entry when it ends": {
			with(cache(but(holder("b0", 0), func(p *Pod) { p.Ended = true })), func(in *Input) {
				in.Endpoints = append(in.Endpoints, Endpoint{1, "b0", "b0", "10.0.0.0", true})
			}), []string{"slot 0: b0, ready false", "slot 1: removed"},
		},
		"a Pod that another client put into the slice of another slot, too, keeps its own": {
			with(cache(holder("b0", 0), holder("b1", 1)), func(in *Input) {
				in.Endpoints[0].Pod, in.Endpoints[0].UID, in.Endpoints[0].IP = "b1", "b1", "10.0.0.1"
			}), []string{"slot 0: b0, ready true"},
		},
		"a surplus Pod stays not ready, and is deleted first": {cache(holder("b0", 0), holder("b1", 1), fresh("b2")), []string{"b2: cost -50"}},
		"while it is suspended nothing changes": {
			with(cache(holder("a0", 0), fresh("b1")), func(in *Input) { in.Suspended = true }), nil,
		},
	})
}

func TestHandoff(t *testing.T) {
	check(t, map[string]situation{
		"a new Pod copies the first outdated Pod": {cache(holder("a0", 0), holder("a1", 1), fresh("b2")), []string{`b2: role "receive" shop-0`, "b2: cost -50"}},
		"a terminating Pod is copied first, and faster if it ends soon": {
			cache(holder("a0", 0), but(holder("a1", 1), terminating), fresh("b2")), []string{`b2: role "receive" shop-1 within 40s`, "b2: cost -50"},
		},
		"a Pod that terminates while it is copied is copied faster": {
			cache(holder("a0", 0), but(holder("a1", 1), terminating), copying("b2", "a1", 1, 1)), []string{`b2: role "receive" shop-1 within 40s`},
		},
		"a terminating Pod whose memcached has ended is not copied": {
			cache(holder("a0", 0), but(holder("a1", 1), func(p *Pod) { terminating(p); p.MemcachedReady = false }), fresh("b2")),
			[]string{`b2: role "serve" shop-1 PodLost`, "b2: cost -50"},
		},
		"not if all is copied": {
			cache(holder("a0", 0), but(holder("a1", 1), terminating), but(copying("b2", "a1", 1, 1), copied)), []string{"slot 1: b2, ready true"},
		},
		"a terminating Pod of the current template is copied, too": {
			cache(holder("b0", 0), but(holder("b1", 1), terminating), fresh("b2")), []string{`b2: role "receive" shop-1 within 40s`, "b2: cost -50"},
		},
		"an outdated Pod never takes over the slot of a current one": {cache(holder("b0", 0), holder("b1", 1), fresh("a2")), []string{"a2: cost -50"}},
		"without a known direction no Pod is replaced":               {with(cache(holder("a0", 0), holder("a1", 1), fresh("b2")), func(in *Input) { in.Hash = "" }), nil},
		"with Never the new Pod serves immediately": {
			with(cache(holder("a0", 0), holder("a1", 1), fresh("b2")), func(in *Input) { in.Handoff = false }),
			[]string{`b2: role "serve" shop-0 HandoffNever`, "b2: cost -50"},
		},
		"two new Pods copy two Pods": {
			cache(holder("a0", 0), holder("a1", 1), fresh("b2"), fresh("b3")),
			[]string{`b2: role "receive" shop-0`, "b2: cost -50", `b3: role "receive" shop-1`, "b3: cost -50"},
		},
		"a copy in progress stays":       {cache(holder("a0", 0), holder("a1", 1), copying("b2", "a1", 1, 1)), nil},
		"a complete copy takes the slot": {cache(holder("a0", 0), holder("a1", 1), but(copying("b2", "a1", 1, 1), copied)), []string{"slot 1: b2, ready true"}},
		"after the move the old Pod leaves, with a cost first": {
			cache(holder("a0", 0), but(instructed("a1", instruction.Serve, 1), ready), but(copying("b2", "a1", 1, 1), func(p *Pod) { p.AgentReady, p.Created = true, held })),
			[]string{`a1: role "leave" shop-1`, "a1: cost -100", `b2: role "moved" shop-1`, "b2: cost 0"},
		},
		"then the new Pod becomes ready":     {cache(holder("a0", 0), but(left("a1", 1), gated), moved("b2", "a1", 1, 1)), []string{"b2: gate true"}},
		"then the old one stops being ready": {cache(holder("a0", 0), but(left("a1", 1), gated), but(moved("b2", "a1", 1, 1), ready)), []string{"a1: gate false"}},
		"if a Pod of the same template is not ready, the old one stops first": {
			cache(but(holder("a0", 0), func(p *Pod) { p.Ready = false }), but(left("a1", 1), gated), moved("b2", "a1", 1, 1)), []string{"a1: gate false"},
		},
		"with two old templates, the old one stops first": {cache(holder("c0", 0), but(left("a1", 1), gated), moved("b2", "a1", 1, 1)), []string{"a1: gate false"}},
		"after the old Pod ended the new one only serves": {
			cache(holder("b0", 0), but(moved("b2", "a1", 1, 1), ready)), []string{`b2: role "serve" shop-1`},
		},
	})
}

func TestCopiesThatEnd(t *testing.T) {
	failed := func(p *Pod) { p.Failure = Failure{At: noon, Reason: "FromUnreachable"} }
	check(t, map[string]situation{
		"a copy that failed starts cold": {cache(holder("a0", 0), holder("b1", 1), but(copying("b2", "a0", 0, 0), failed)), []string{`b2: role "cold" shop-0 FromUnreachable`}},
		"a failure of an earlier copy does not count": {
			cache(holder("a0", 0), holder("b1", 1), but(copying("b2", "a0", 0, 0), func(p *Pod) { failed(p); p.Instruction.Record.OldFailure = noon })), nil,
		},
		"a copy that takes too long starts cold": {
			with(cache(holder("a0", 0), holder("b1", 1), copying("b2", "a0", 0, 0)), func(in *Input) { in.Timeout = 30 * time.Second }), []string{`b2: role "cold" shop-0 HandoffTimedOut`},
		},
		"a copy whose source ended starts cold":               {cache(holder("b1", 1), copying("b2", "a0", 7, 0)), []string{`b2: role "cold" shop-0 PodLost`}},
		"a complete copy whose source ended takes the slot":   {cache(holder("b1", 1), but(copying("b2", "a0", 7, 0), copied)), []string{"slot 0: b2, ready true"}},
		"a copy whose source has another address starts cold": {cache(holder("a0", 0), holder("b1", 1), copying("b2", "a0", 7, 0)), []string{`b2: role "cold" shop-0 PodLost`}},
		"a copy whose source is another Pod with its address is abandoned": {
			cache(holder("a0", 0), holder("b1", 1), copying("b2", "a9", 0, 0)), []string{`b2: role "" `},
		},
		"a cold Pod takes the slot when it is empty": {
			cache(holder("a0", 0), holder("b1", 1), but(copying("b2", "a0", 0, 0), func(p *Pod) { p.Instruction.Role, p.AgentReady = instruction.Cold, true })),
			[]string{"slot 0: b2, ready true"},
		},
		"not immediately: the kubelet may report what was before": {
			cache(holder("a0", 0), holder("b1", 1), but(copying("b2", "a0", 0, 0), func(p *Pod) {
				p.Instruction.Role, p.Instruction.Since, p.AgentReady = instruction.Cold, noon.Add(-time.Second), true
			})), nil,
		},
		"after an undo the copy is abandoned": {
			with(cache(holder("a0", 0), holder("a1", 1), copying("b2", "a0", 0, 0)), func(in *Input) { in.Hash = "a" }), []string{`b2: role "" `},
		},
		"after an undo the Pod that left is called back": {
			with(cache(left("a0", 0), holder("a1", 1), but(moved("b2", "a0", 0, 0), ready)), func(in *Input) { in.Hash = "a" }),
			[]string{`a0: role "" `, "a0: cost -50"},
		},
		"and copies only when the holder no longer names it": {
			with(cache(but(fresh("a0"), calledBack), holder("a1", 1), but(moved("b2", "a0", 0, 0), ready)), func(in *Input) { in.Hash = "a" }),
			[]string{`b2: role "serve" shop-0`},
		},
	})
}

func TestStatus(t *testing.T) {
	in := cache(holder("a0", 0), copying("b2", "a0", 0, 0))
	in.Addresses = map[string]string{"shop-0": "shop-0.shop-slots.team.svc"}
	d := Decide(in)
	want := []Status{
		{
			Name: "shop-0", Address: "shop-0.shop-slots.team.svc", Pod: "a0", State: instruction.StateCopying,
			Since: noon.Add(-30 * time.Second),
		},
		{Name: "shop-1", State: instruction.StateCold, Reason: ReasonNoPod},
	}
	if diff := cmp.Diff(want, d.Slots); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if want := "1 of 2 slots are still to be handed over, 1 being copied"; d.Progress != want {
		t.Errorf("want %q, got %q", want, d.Progress)
	}
	if want := in.Timeout - 30*time.Second; d.RequeueAfter != want {
		t.Errorf("it is decided again after %s, want %s", d.RequeueAfter, want)
	}
}

func TestTheSlotsToBeHandedOverAreCounted(t *testing.T) {
	for name, tc := range map[string]struct {
		in   Input
		want string
	}{
		"at rest":                       {cache(holder("b0", 0), holder("b1", 1)), ""},
		"a rollout begins":              {cache(holder("a0", 0), holder("a1", 1)), "2 of 2 slots are still to be handed over, 0 being copied"},
		"a slot of a rollout is copied": {cache(holder("a0", 0), holder("a1", 1), copying("b2", "a0", 0, 0)), "2 of 2 slots are still to be handed over, 1 being copied"},
		"a slot of a rollout has moved": {cache(left("a0", 0), holder("a1", 1), moved("b2", "a0", 0, 0)), "1 of 2 slots are still to be handed over, 0 being copied"},
		"a Pod terminates":              {cache(but(holder("b0", 0), terminating), holder("b1", 1)), "1 of 1 slots are still to be handed over, 0 being copied"},
		"a deleted Pod is copied":       {cache(but(holder("b0", 0), terminating), holder("b1", 1), copying("b2", "b0", 0, 0)), "1 of 1 slots are still to be handed over, 1 being copied"},
		"the spec forbids handoffs":     {with(cache(holder("a0", 0), holder("a1", 1)), func(in *Input) { in.Handoff = false }), ""},
		"the spec is suspended":         {with(cache(holder("a0", 0), holder("a1", 1)), func(in *Input) { in.Suspended = true }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Decide(tc.in).Progress; got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestAHandoffThatLosesItsKeysInTheEnd(t *testing.T) {
	serving := func(p *Pod) {
		ready(p)
		p.Instruction.Record.State, p.Instruction.Record.StateSince = instruction.StateServing, noon.Add(-time.Second)
	}
	lost := func(p *Pod) { serving(p); p.Failure = Failure{At: noon, Reason: "OldEnded"} }
	cold := func(p *Pod) {
		lost(p)
		p.Instruction.Record = instruction.Record{State: instruction.StateCold, Reason: "LogLinesLost", Predecessor: "a1", MovedAt: noon}
	}
	check(t, map[string]situation{
		"is cold while the old Pod drains": {
			cache(holder("b0", 0), but(left("a1", 1), terminating), but(moved("b2", "a1", 1, 1), lost)),
			[]string{`b2: role "moved" shop-1 OldEnded`},
		},
		"is cold after the old Pod ended": {
			cache(holder("b0", 0), but(moved("b2", "a1", 1, 1), lost)), []string{`b2: role "serve" shop-1 OldEnded`},
		},
		"is cold if the agent says so once it serves alone": {
			cache(holder("b0", 0), but(holder("b1", 1), lost)), []string{`b1: role "serve" shop-1 OldEnded`},
		},
		"keeps its first reason": {
			cache(holder("b0", 0), but(moved("b2", "a1", 1, 1), cold)), []string{`b2: role "serve" shop-1 LogLinesLost`},
		},
		"is not a copy that was repeated": {
			cache(holder("b0", 0), instructed("a1", instruction.Leave, 1), but(copying("b2", "a1", 1, 1), func(p *Pod) {
				lost(p)
				p.GateTrue, p.Ready, p.Cost, p.Created = false, false, 0, held
			})), []string{"a1: cost -100", `b2: role "moved" shop-1`},
		},
		"is not a failure before the handoff": {
			cache(holder("b0", 0), but(holder("b1", 1), func(p *Pod) { lost(p); p.Instruction.Record.OldFailure = noon })), nil,
		},
	})
	status := Decide(cache(holder("b0", 0), but(moved("b2", "a1", 1, 1), lost))).Slots[1]
	want := Status{Name: "shop-1", Pod: "b2", State: instruction.StateCold, Since: noon, Reason: "OldEnded"}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestHowLongAHandoffTookIsRemembered(t *testing.T) {
	in := cache(instructed("a0", instruction.Serve, 0), but(copying("b2", "a0", 0, 0), func(p *Pod) {
		copied(p)
		p.Created = held
	}))
	want := Status{
		Name: "shop-0", Pod: "b2", State: instruction.StateServing, Since: noon, Took: 30 * time.Second,
	}
	d := Decide(in)
	if diff := cmp.Diff(want, d.Slots[0]); diff != "" {
		t.Errorf("at the move (-want +got):\n%s", diff)
	}
	for _, change := range d.Changes {
		for i := range in.Pods {
			if in.Pods[i].UID == change.UID && change.Instruction != nil {
				in.Pods[i].Instruction = *change.Instruction
			}
		}
	}
	in.Pods, in.Now = in.Pods[1:], noon.Add(time.Hour) // The old Pod ended.
	if diff := cmp.Diff(want, Decide(in).Slots[0]); diff != "" {
		t.Errorf("an hour later (-want +got):\n%s", diff)
	}
}

// TestASlotMovesUntilThePredecessorIsDeleted: a Deployment deletes Pods that it does not count as available, if it gets
// another template.
func TestASlotMovesUntilThePredecessorIsDeleted(t *testing.T) {
	gave := func(change func(*Pod)) Pod { return but(instructed("a0", instruction.Leave, 0), change) }
	taken := but(moved("b1", "a0", 0, 0), func(p *Pod) { p.Ready = false })
	at := func(after time.Duration, in Input) Input {
		return with(in, func(in *Input) { in.Now, in.MinReady = noon.Add(after), 10*time.Second })
	}
	tests := map[string]struct {
		in   Input
		want bool
	}{
		"a Pod that just took a slot":  {cache(gave(ready), taken), true},
		"a Pod that is about to":       {cache(holder("a0", 0), but(copying("b1", "a0", 0, 0), copied)), true},
		"a Pod that is ready":          {cache(gave(ready), but(taken, ready)), true},
		"a Pod that is ready for long": {at(moveTime+9*time.Second, cache(gave(ready), but(taken, ready))), true},
		"the predecessor ends":         {cache(gave(terminating), but(taken, ready)), false},
		"the predecessor ends before":  {cache(gave(terminating), taken), true},
		"the predecessor was deleted":  {cache(but(taken, ready)), false},
		"the Pod itself ends":          {cache(gave(ready), but(taken, terminating)), false},
		"the predecessor stays":        {at(moveTime+10*time.Second, cache(gave(ready), taken)), false},
		"a Pod that copies":            {cache(holder("a0", 0), copying("b1", "a0", 0, 0)), false},
		"a Pod without predecessor":    {cache(but(holder("b0", 0), func(p *Pod) { p.Ready = false })), false},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			if got := Decide(tc.in).Moving; got != tc.want {
				t.Errorf("%t", got)
			}
		})
	}
}
