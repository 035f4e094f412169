package slots

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// situation is an observed state, and the lines that describe the decision for it.
type situation struct {
	in   Input
	want []string
}

// cache returns the input of a cache with two slots, whose current template is b. The Pods that hold a slot are in the
// slice, too.
func cache(pods ...Pod) Input {
	in := Input{
		Cache: "shop", Size: 2, Deployed: 2, Hash: "b", Handoff: true, Timeout: time.Minute, Drain: 5 * time.Second,
		Now: noon, Pods: pods,
	}
	for i := range pods {
		pods[i].IP = fmt.Sprintf("10.0.0.%d", i)
		if slot := in.slotOf(pods[i].Instruction.Slot); pods[i].Created.Equal(held) {
			in.Endpoints = append(in.Endpoints, Endpoint{slot, pods[i].Name, pods[i].UID, pods[i].IP, pods[i].MemcachedReady})
		}
		pods[i].Created = noon.Add(time.Duration(i-60) * time.Minute)
	}
	return in
}

// held marks the Pods of a situation that are in the slice: it is their time of creation.
var held = noon

func with(in Input, change func(*Input)) Input {
	change(&in)
	return in
}

// fresh is a new Pod without an instruction. The first letter of its name is its template.
func fresh(name string) Pod {
	return Pod{Name: name, UID: name, Hash: name[:1], Gated: true, MemcachedReady: true}
}

// instructed is a Pod with a role for a slot, since half a minute.
func instructed(name string, role instruction.Role, slot int) Pod {
	pod := fresh(name)
	pod.Instruction = instruction.Instruction{
		Role: role, Slot: fmt.Sprintf("shop-%d", slot), Since: noon.Add(-30 * time.Second),
	}
	return pod
}

// holder is a ready Pod that holds a slot.
func holder(name string, slot int) Pod {
	pod := instructed(name, instruction.Serve, slot)
	pod.AgentReady, pod.GateTrue, pod.Ready, pod.Created = true, true, true, held
	return pod
}

// copying is a Pod that copies the keys of a holder; the number is the index of the holder among the Pods.
func copying(name, predecessor string, number, slot int) Pod {
	pod := instructed(name, instruction.Receive, slot)
	pod.Instruction.From = fmt.Sprintf("10.0.0.%d", number)
	pod.Instruction.Record.Predecessor = predecessor
	pod.Cost = CostCandidate
	return pod
}

// moved is a Pod that just took the slot of another.
func moved(name, predecessor string, number, slot int) Pod {
	pod := copying(name, predecessor, number, slot)
	pod.Instruction.Role, pod.AgentReady, pod.Created, pod.Cost = instruction.Moved, true, held, 0
	pod.Instruction.Record.MovedAt = noon
	return pod
}

// left is a Pod that gave its slot away.
func left(name string, slot int) Pod {
	pod := instructed(name, instruction.Leave, slot)
	pod.AgentReady, pod.Cost = true, CostLeave
	return pod
}

func but(pod Pod, change func(*Pod)) Pod {
	change(&pod)
	return pod
}

func terminating(p *Pod) { p.Terminating, p.Ends = true, noon.Add(85*time.Second) }
func copied(p *Pod)      { p.AgentReady = true }
func ready(p *Pod)       { p.AgentReady, p.GateTrue, p.Ready = true, true, true }
func calledBack(p *Pod)  { p.Cost, p.Instruction.Since = CostCandidate, noon.Add(-30*time.Second) }
func ahead(p *Pod)       { p.Instruction.Since = noon.Add(time.Hour) }
func gated(p *Pod)       { p.GateTrue, p.Ready = true, true }

// describe returns a line for each change.
func describe(in Input, d Decision) []string {
	var lines []string
	before := map[int]Endpoint{}
	for _, endpoint := range in.Endpoints {
		before[endpoint.Slot] = endpoint
	}
	for _, endpoint := range d.Endpoints {
		if endpoint != before[endpoint.Slot] {
			lines = append(lines, fmt.Sprintf("slot %d: %s, ready %v", endpoint.Slot, endpoint.Pod, endpoint.Ready))
		}
		delete(before, endpoint.Slot)
	}
	for slot := range before {
		lines = append(lines, fmt.Sprintf("slot %d: removed", slot))
	}
	for _, change := range d.Changes {
		if i := change.Instruction; i != nil {
			text := fmt.Sprintf("%s: role %q %s", change.Pod, i.Role, i.Slot)
			if i.Within > 0 {
				text += fmt.Sprintf(" within %ds", i.Within)
			}
			if i.Record.Reason != "" {
				text += " " + i.Record.Reason
			}
			lines = append(lines, text)
		}
		if change.Cost != nil {
			lines = append(lines, fmt.Sprintf("%s: cost %d", change.Pod, *change.Cost))
		}
		if change.Gate != nil {
			lines = append(lines, fmt.Sprintf("%s: gate %v", change.Pod, *change.Gate))
		}
	}
	if d.Replicas != in.Deployed {
		lines = append(lines, fmt.Sprintf("replicas %d", d.Replicas))
	}
	return lines
}

func check(t *testing.T, situations map[string]situation) {
	t.Helper()
	for name, test := range situations {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, describe(test.in, Decide(test.in))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
