package slots

import (
	"testing"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

func TestInstructionsThatAreEdited(t *testing.T) {
	removed := func(p *Pod) { p.Instruction, p.AgentReady, p.Ready = instruction.Instruction{}, false, false }
	broken := func(p *Pod) { p.Instruction = instruction.Instruction{Role: Unknown} }
	edited := func(in Input, pod int, changes ...func(*Pod)) Input {
		for _, change := range changes {
			change(&in.Pods[pod])
		}
		return in
	}
	moving := func(leaving Pod) Input {
		return cache(holder("b0", 0), leaving, but(moved("b2", "a1", 1, 1), ready))
	}
	check(t, map[string]situation{
		"a holder without its instruction gets it again": {
			edited(cache(holder("b0", 0), holder("b1", 1)), 1, removed), []string{`b1: role "serve" shop-1`},
		},
		"a holder whose instruction can't be decoded, too": {
			edited(cache(holder("b0", 0), holder("b1", 1)), 1, broken), []string{`b1: role "serve" shop-1`},
		},
		"and while its keys are copied": {
			edited(cache(holder("b0", 0), holder("a1", 1), copying("b2", "a1", 1, 1)), 1, broken), []string{`a1: role "serve" shop-1`},
		},
		"what clients change on the Pod that held the slot before is not known": {
			edited(moving(but(left("a1", 1), gated)), 2, broken), []string{"a1: gate false", `b2: role "" `},
		},
		"nor if the instructions of both are broken": {
			edited(edited(moving(left("a1", 1)), 1, broken), 2, broken), []string{`a1: role "" `, "a1: cost -50", `b2: role "" `},
		},
		"so it starts without keys": {
			edited(moving(left("a1", 1)), 2, removed), []string{`b2: role "cold" shop-1 InstructionLost`},
		},
		"a Pod that gave its slot away is sent away once more, and its successor still removes what clients change there": {
			edited(moving(left("a1", 1)), 1, broken), []string{`a1: role "leave" shop-1`},
		},
		"also if its instruction is removed": {
			edited(moving(left("a1", 1)), 1, removed), []string{`a1: role "leave" shop-1`},
		},
		"and while it terminates": {
			edited(moving(left("a1", 1)), 1, broken, terminating), []string{`a1: role "leave" shop-1`},
		},
		"a Pod that clients could not use yet may hold anything": {
			edited(cache(holder("b0", 0), holder("b1", 1)), 1, broken, func(p *Pod) { p.GateTrue = false }),
			[]string{`b1: role "" `, "b1: gate true"},
		},
	})
}
