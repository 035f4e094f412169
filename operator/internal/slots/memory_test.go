package slots

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

const mib = int64(1) << 20

// wanted returns the memory of Pods that started with 64 MiB and are to have another memory. In addition to the new
// memory, a container needs 10 MiB, and a 16th of the amount by which the former memory was larger.
func wanted(mebibytes int64) *Memory {
	return &Memory{Started: 64 * mib, Wanted: mebibytes * mib, Container: func(former int64) Container {
		return Container{Request: mebibytes, Limit: mebibytes + 10 + (former/mib-mebibytes)/16}
	}}
}

// sized returns a Pod that was instructed to have the memory given (0: the memory of its start), and that had at most
// the memory former before. Its container is to have the limit shall, and has the limit has.
func sized(pod Pod, given, former, shall, has int64) Pod {
	pod.Instruction.Memory, pod.Instruction.Record.FormerMemory = given*mib, former*mib
	pod.Container, pod.Actual = Container{shall - 10, shall}, Container{has - 10, has}
	return pod
}

// requests returns a Pod whose container requests another memory.
func requests(pod Pod, request int64) Pod {
	pod.Container.Request, pod.Actual.Request = request, request
	return pod
}

// whole returns the same as wanted, but for containers that request as much memory as their limit.
func whole(mebibytes int64) *Memory {
	memory := wanted(mebibytes)
	memory.Whole = true
	part := memory.Container
	memory.Container = func(former int64) Container { return Container{part(former).Limit, part(former).Limit} }
	return memory
}

// TestMemory decides about Pod b0. Each line of a decision has the memory that Pod b0 is instructed to have, the memory
// that it had before, and its container.
func TestMemory(t *testing.T) {
	serving := holder("b0", 0)
	const left = "1 of 1 Pods are still to be resized"
	unready := func(p *Pod) { p.AgentReady = false }
	full := func(p *Pod) { p.ResizeRefused, p.ResizeMessage = "Deferred", "Node didn't have enough memory" }
	tests := map[string]struct {
		pod          Pod
		memory       *Memory
		want         []string
		wantResizing string
	}{
		"a Pod that has what it started with stays":      {sized(serving, 0, 0, 74, 74), wanted(64), nil, ""},
		"one whose container others changed stays, too":  {sized(serving, 0, 0, 99, 99), wanted(64), nil, ""},
		"growing, the container comes first":             {sized(serving, 0, 0, 74, 74), wanted(128), []string{"memory 64, before 64", "container 128 138"}, left},
		"and memcached waits for it":                     {sized(serving, 64, 64, 138, 74), wanted(128), nil, left},
		"then memcached grows":                           {sized(serving, 64, 64, 138, 138), wanted(128), []string{"memory 128, before 128"}, left},
		"then it is complete":                            {sized(serving, 128, 128, 138, 138), wanted(128), nil, ""},
		"taken back before memcached grew":               {sized(serving, 64, 64, 138, 74), wanted(64), []string{"container 64 138"}, ""},
		"shrinking, memcached comes first":               {sized(serving, 128, 128, 138, 138), wanted(64), []string{"memory 64, before 128"}, left},
		"then the container requests less":               {sized(serving, 64, 128, 138, 138), wanted(64), []string{"container 64 138"}, ""},
		"but not while no agent runs":                    {but(sized(serving, 64, 128, 138, 138), unready), wanted(64), nil, ""},
		"a container that requests less":                 {requests(sized(serving, 64, 128, 138, 138), 64), wanted(64), nil, ""},
		"one that is reserved as a whole stays":          {sized(serving, 64, 128, 138, 138), whole(64), []string{"container 138 138"}, ""},
		"smaller than at the start":                      {sized(serving, 0, 0, 74, 74), wanted(32), []string{"memory 32, before 64"}, left},
		"growing again before the container shrank":      {sized(serving, 64, 128, 138, 138), wanted(128), []string{"memory 128, before 128"}, left},
		"a container that another client takes away":     {sized(serving, 64, 64, 90, 138), wanted(128), []string{"container 128 138"}, left},
		"a memory of no API":                             {sized(serving, 64, 1<<40, 74, 74), wanted(64), []string{"memory 64, before 64"}, ""},
		"without the mode, what was given is taken":      {sized(serving, 128, 128, 138, 138), wanted(64), []string{"memory 64, before 128"}, left},
		"while nothing may change, what was given stays": {sized(serving, 128, 128, 138, 138), nil, nil, ""},
		"a terminating Pod stays":                        {but(sized(serving, 0, 0, 74, 74), func(p *Pod) { p.Terminating = true }), wanted(128), nil, ""},
		"a Node without room":                            {but(sized(serving, 64, 64, 138, 74), full), wanted(128), nil, left + "; Pod b0: Deferred: Node didn't have enough memory"},
		"a kubelet that reports nothing": {
			but(sized(serving, 64, 64, 138, 0), func(p *Pod) { p.Actual = Container{} }), wanted(128), nil,
			left + "; Pod b0: its kubelet does not report the memory of containers, which needs Kubernetes 1.33 or later",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := cache(tc.pod)
			in.Size, in.Deployed, in.Memory = 1, 1, tc.memory
			d := Decide(in)
			var got []string
			for _, change := range d.Changes {
				if i := change.Instruction; i != nil {
					got = append(got, fmt.Sprintf("memory %d, before %d", i.Memory/mib, i.Record.FormerMemory/mib))
					i.Memory, i.Record.FormerMemory = tc.pod.Instruction.Memory, tc.pod.Instruction.Record.FormerMemory
					if *i != tc.pod.Instruction.Normal() {
						t.Errorf("more than the memory is changed: %+v", *i)
					}
				}
				if c := change.Container; c != nil {
					got = append(got, fmt.Sprintf("container %d %d", c.Request, c.Limit))
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantResizing, d.Resizing); diff != "" {
				t.Errorf("what the status says (-want +got):\n%s", diff)
			}
		})
	}
}

// TestANewPodGetsItsMemoryBeforeItCopiesKeys: with less memory, it would have no room for all keys. It waits from the
// first decision on, for at most a quarter of the time for a copy.
func TestANewPodGetsItsMemoryBeforeItCopiesKeys(t *testing.T) {
	full := func(p *Pod) { p.ResizeRefused = "Deferred" }
	since := func(seconds int) func(*Pod) {
		return func(p *Pod) { p.Instruction.Record.MemoryAt = noon.Add(-time.Duration(seconds) * time.Second) }
	}
	none := func() *Memory { return nil }
	of := func(mebibytes int64) func() *Memory { return func() *Memory { return wanted(mebibytes) } }
	for name, tc := range map[string]struct {
		memory func() *Memory
		pod    Pod
		want   instruction.Role
	}{
		"as it started":                     {of(128), sized(fresh("b1"), 0, 0, 74, 74), instruction.None},
		"with its container":                {of(128), sized(fresh("b1"), 64, 64, 138, 138), instruction.None},
		"with all":                          {of(128), sized(fresh("b1"), 128, 128, 138, 138), instruction.Receive},
		"a Node without room":               {of(128), but(sized(fresh("b1"), 64, 64, 138, 74), full), instruction.Receive},
		"a moment later":                    {of(128), but(sized(fresh("b1"), 64, 64, 74, 74), since(14)), instruction.None},
		"too late":                          {of(128), but(sized(fresh("b1"), 64, 64, 74, 74), since(15)), instruction.Receive},
		"by a clock that was set back":      {of(128), but(sized(fresh("b1"), 64, 64, 74, 74), since(-3600)), instruction.None},
		"as it started, with more":          {of(32), sized(fresh("b1"), 0, 0, 74, 74), instruction.None},
		"with more only in its container":   {of(32), sized(fresh("b1"), 32, 64, 74, 74), instruction.Receive},
		"while nothing else may change":     {none, sized(fresh("b1"), 0, 0, 74, 74), instruction.None},
		"then with what the other one had":  {none, sized(fresh("b1"), 128, 128, 138, 138), instruction.Receive},
		"of a template that nobody resized": {none, but(sized(fresh("c1"), 0, 0, 74, 74), func(p *Pod) { p.Hash = "c" }), instruction.Receive},
	} {
		t.Run(name, func(t *testing.T) {
			in := cache(givenMore(), tc.pod)
			in.Size, in.Memory = 1, tc.memory()
			d, role := Decide(in), instruction.None
			for _, change := range d.Changes {
				if change.Pod == tc.pod.Name && change.Instruction != nil {
					role = change.Instruction.Role
				}
			}
			if role != tc.want {
				t.Errorf("role %q, want %q", role, tc.want)
			}
			if waits := role == instruction.None; waits && (d.RequeueAfter <= 0 || d.RequeueAfter > in.Timeout/roomShare) {
				t.Errorf("decides again after %s", d.RequeueAfter)
			}
		})
	}
}

// givenMore is a Pod that started with 64 MiB, has 128 MiB, and is drained.
func givenMore() Pod { return but(sized(holder("b0", 0), 128, 128, 138, 138), terminating) }

// TestAFreeSlotIsTakenWhateverTheMemory: no keys are copied to the Pod.
func TestAFreeSlotIsTakenWhateverTheMemory(t *testing.T) {
	in := cache(sized(fresh("b1"), 64, 64, 138, 74))
	in.Size, in.Memory = 1, wanted(128)
	changes := Decide(in).Changes
	if len(changes) != 1 || changes[0].Instruction == nil || !serves(changes[0].Instruction.Role) {
		t.Errorf("changes %+v", changes)
	}
}

// TestAPodTakesItsSlotWhileItsMemoryChanges: the slot does not wait for the memory, and the memory does not wait for
// the slot.
func TestAPodTakesItsSlotWhileItsMemoryChanges(t *testing.T) {
	old := but(holder("a0", 0), terminating)
	old.Hash = "b"
	next := but(sized(copying("b1", "a0", 0, 0), 64, 64, 138, 138), copied)
	in := cache(old, next)
	in.Size, in.Memory = 1, wanted(128)
	d := Decide(in)
	if len(d.Endpoints) != 1 || d.Endpoints[0].Pod != "b1" {
		t.Errorf("the slot has %+v", d.Endpoints)
	}
}
