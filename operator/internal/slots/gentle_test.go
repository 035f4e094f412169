package slots

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// TestGentleEventsInAnyOrderKeepTheKeys: the events are changes to the size and to the template, undone or not,
// evictions and deletions of Pods, a deleted EndpointSlice and an operator that is killed. One or two of them happen at
// the same time. No memcached fails, so every slot that stays keeps its keys.
func TestGentleEventsInAnyOrderKeepTheKeys(t *testing.T) {
	first, last := simulationSeeds(t, 300)
	for seed := first; seed <= last; seed++ {
		if w := beGentle(seed, false); w.wrong != "" {
			w = beGentle(seed, true)
			t.Fatalf("seed %d: %s\n%s", seed, w.wrong, strings.Join(w.trace, "\n"))
		}
	}
}

func beGentle(seed uint64, tracing bool) *world {
	w := newWorld(seed, tracing)
	w.careful, w.patience = true, time.Minute
	w.settle(200)
	for range 3 {
		for range 1 + w.IntN(2) {
			w.gentleEvent()
			for range w.IntN(4) {
				w.step()
			}
		}
		if !w.settle(1500) {
			w.violated("it does not come to rest")
		}
		w.checkRest()
		w.checkKeys()
		if w.wrong != "" {
			break
		}
	}
	return w
}

func (w *world) gentleEvent() {
	switch w.IntN(6) {
	case 4:
		w.log("EVENT the EndpointSlice is deleted")
		w.slice = nil
		w.sliceRV++
	case 5:
		w.killed = true
	case 0:
		w.template = string(rune('a' + w.IntN(3)))
		w.log("EVENT template %s", w.template)
	case 1:
		w.size = 1 + w.IntN(5)
		w.log("EVENT size %d", w.size)
	default:
		pod := w.pods[w.IntN(len(w.pods))]
		w.log("EVENT delete %s", pod.Name)
		w.terminate(pod)
	}
}

// TestAnEditedInstructionIsRestored: another client removes or breaks the instructions of holders, one after another.
func TestAnEditedInstructionIsRestored(t *testing.T) {
	for seed := range uint64(50) {
		w := newWorld(seed, true)
		w.careful = true
		w.settle(200)
		for _, endpoint := range w.slice {
			pod := w.pod(endpoint.UID)
			w.edit(pod)
			w.settle(200)
			if pod.agent.flushed {
				w.violated("%s is emptied", pod.Name)
			}
		}
		w.checkRest()
		w.checkKeys()
		if w.wrong != "" {
			t.Fatalf("seed %d: %s\n%s", seed, w.wrong, strings.Join(w.trace, "\n"))
		}
	}
}

// edit removes or breaks the instruction of a Pod.
func (w *world) edit(pod *simPod) {
	pod.Instruction = instruction.Instruction{}
	if w.IntN(2) == 0 {
		pod.Instruction.Role = Unknown
	}
	pod.lost = w.now // Without an instruction its agent is not ready.
	pod.rv++
	w.log("EVENT the instruction of %s is edited: %s", pod.Name, shown(pod.Instruction))
}

// checkKeys checks that no slot is cold.
func (w *world) checkKeys() {
	cold := slices.ContainsFunc(w.pods, func(p *simPod) bool { return p.Instruction.Record.State == instruction.StateCold })
	if cold {
		w.violated("a slot is cold")
	}
}
