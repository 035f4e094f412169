package slots

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

const mib = int64(1) << 20

// wanted is that Pods start with 64 MiB and shall have others. A container needs 10 MiB more, and one for each that
// memcached had before.
func wanted(mebibytes int64) *Memory {
	return &Memory{Started: 64 * mib, Wanted: mebibytes * mib, Container: func(former int64) Container {
		return Container{Request: mebibytes, Limit: mebibytes + 10 + (former/mib-mebibytes)/16}
	}}
}

// sized is a Pod that was given so much memory, 0 is that of the start, at most so much before, and whose container
// shall have a limit and has one.
func sized(pod Pod, given, former, shall, has int64) Pod {
	pod.Instruction.Memory, pod.Instruction.Record.FormerMemory = given*mib, former*mib
	pod.Container, pod.Actual = Container{shall - 10, shall}, Container{has - 10, has}
	return pod
}

// gave is a Pod that was given its memory so many seconds ago.
func gave(pod Pod, seconds int) Pod {
	pod.Instruction.Record.MemoryAt = noon.Add(-time.Duration(seconds) * time.Second)
	return pod
}

// TestMemory decides about Pod b0. The lines are what it is instructed to have, and had before, and its container.
func TestMemory(t *testing.T) {
	serving := holder("b0", 0)
	tests := map[string]struct {
		pod          Pod
		memory       *Memory
		want         []string
		wantResizing string
	}{
		"a Pod that has what it started with stays":      {sized(serving, 0, 0, 74, 74), wanted(64), nil, ""},
		"one whose container others changed stays, too":  {sized(serving, 0, 0, 99, 99), wanted(64), nil, ""},
		"growing, the container comes first":             {sized(serving, 0, 0, 74, 74), wanted(128), []string{"container 128 138"}, "1 of 1 Pods are still to be resized"},
		"and memcached waits for it":                     {sized(serving, 0, 0, 138, 74), wanted(128), nil, "1 of 1 Pods are still to be resized"},
		"then memcached grows":                           {sized(serving, 0, 0, 138, 138), wanted(128), []string{"memory 128, before 128"}, "1 of 1 Pods are still to be resized"},
		"then it is complete":                            {sized(serving, 128, 128, 138, 138), wanted(128), nil, ""},
		"shrinking, memcached comes first":               {sized(serving, 128, 128, 138, 138), wanted(64), []string{"memory 64, before 128"}, "1 of 1 Pods are still to be resized"},
		"then the container, with the larger hash table": {sized(serving, 64, 128, 138, 138), wanted(64), []string{"container 64 78"}, "1 of 1 Pods are still to be resized"},
		"but not before memcached has given it back":     {gave(sized(serving, 64, 128, 138, 138), 4), wanted(64), nil, "1 of 1 Pods are still to be resized"},
		"which takes some seconds":                       {gave(sized(serving, 64, 128, 138, 138), 5), wanted(64), []string{"container 64 78"}, "1 of 1 Pods are still to be resized"},
		"and longer if it is much":                       {gave(sized(serving, 64, 128, 138<<22, 138<<22), 6), wanted(64), nil, "1 of 1 Pods are still to be resized"},
		"by a clock that was set back it counts again":   {gave(sized(serving, 64, 128, 138, 138), -3600), wanted(64), []string{"memory 64, before 128"}, "1 of 1 Pods are still to be resized"},
		"growing while the container may still shrink":   {sized(serving, 64, 128, 78, 138), wanted(128), []string{"container 128 138"}, "1 of 1 Pods are still to be resized"},
		"a container that does not shrink yet":           {but(sized(serving, 64, 128, 78, 138), func(p *Pod) { p.Container.Request = 64 }), wanted(64), nil, "1 of 1 Pods are still to be resized"},
		"smaller than at the start":                      {sized(serving, 0, 0, 74, 74), wanted(32), []string{"memory 32, before 64"}, "1 of 1 Pods are still to be resized"},
		"growing again before it has shrunk":             {sized(serving, 64, 128, 138, 138), wanted(128), []string{"memory 128, before 128"}, "1 of 1 Pods are still to be resized"},
		"without the mode, what was given stays":         {sized(serving, 128, 128, 138, 138), nil, nil, ""},
		"a terminating Pod stays":                        {but(sized(serving, 0, 0, 74, 74), func(p *Pod) { p.Terminating = true }), wanted(128), nil, ""},
		"a Node without room": {
			but(sized(serving, 0, 0, 138, 74), func(p *Pod) { p.ResizeRefused, p.ResizeMessage = "Deferred", "Node didn't have enough memory" }),
			wanted(128), nil, "1 of 1 Pods are still to be resized; Pod b0: Deferred: Node didn't have enough memory",
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
					if at := i.Record.MemoryAt; !at.Equal(noon) {
						t.Errorf("the memory is dated %s", at)
					}
					before := tc.pod.Instruction
					i.Memory, i.Record.FormerMemory, i.Record.MemoryAt = before.Memory, before.Record.FormerMemory, before.Record.MemoryAt
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

// TestANewPodGetsItsMemoryBeforeItCopiesKeys: with less, it would have no room for all.
func TestANewPodGetsItsMemoryBeforeItCopiesKeys(t *testing.T) {
	const larger, smaller = 128, 32
	old := but(sized(holder("a0", 0), 128, 128, 138, 138), func(p *Pod) { p.Terminating, p.Ends = true, noon.Add(simTimeout) })
	old.Hash = "b"
	for _, tc := range []struct {
		name   string
		memory int64
		pod    Pod
		want   instruction.Role
	}{
		{"as it started", larger, sized(fresh("b1"), 0, 0, 74, 74), instruction.None},
		{"with its container", larger, sized(fresh("b1"), 0, 0, 138, 138), instruction.None},
		{"with all", larger, sized(fresh("b1"), 128, 128, 138, 138), instruction.Receive},
		{"as it started, with more", smaller, sized(fresh("b1"), 0, 0, 74, 74), instruction.None},
		{"with more only in its container", smaller, gave(sized(fresh("b1"), 32, 64, 74, 74), 0), instruction.Receive},
	} {
		in := cache(old, tc.pod)
		in.Size, in.Memory = 1, wanted(tc.memory)
		role := instruction.None
		for _, change := range Decide(in).Changes {
			if change.Pod == "b1" && change.Instruction != nil {
				role = change.Instruction.Role
			}
		}
		if role != tc.want {
			t.Errorf("%s: role %q, want %q", tc.name, role, tc.want)
		}
	}
}

// TestAContainerThatShrinksIsDecidedAboutAgain: nothing reports that memcached has given its memory back.
func TestAContainerThatShrinksIsDecidedAboutAgain(t *testing.T) {
	in := cache(gave(sized(holder("b0", 0), 64, 128, 138, 138), 2))
	in.Size, in.Deployed, in.Memory = 1, 1, wanted(64)
	if after := Decide(in).RequeueAfter; after != 3*time.Second {
		t.Errorf("decides again after %s, want 3s", after)
	}
}
