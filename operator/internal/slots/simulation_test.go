package slots

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// TestAnyOrderOfEventsConverges: whatever happens in whatever order, no key is lost without need, and in the end every
// slot has a Pod. SLOTS_SEED=17 repeats one seed and shows what happened; SLOTS_SEEDS=100000 tries more.
func TestAnyOrderOfEventsConverges(t *testing.T) {
	first, last := simulationSeeds(t, 300)
	losses := 0
	for seed := first; seed <= last; seed++ {
		w := simulate(seed, false)
		losses += w.losses
		if w.wrong != "" {
			w = simulate(seed, true)
			t.Fatalf("seed %d: %s\n%s", seed, w.wrong, strings.Join(w.trace, "\n"))
		}
		if first == last {
			t.Log(strings.Join(simulate(seed, true).trace, "\n"))
		}
	}
	t.Logf("%d seeds; ReplicaSets deleted %d holders", last-first+1, losses)
}

// simulationSeeds returns the first and the last seed to try: the seeds that the environment names, or the first count
// seeds.
func simulationSeeds(t *testing.T, count uint64) (first, last uint64) {
	t.Helper()
	if seed, err := strconv.ParseUint(os.Getenv("SLOTS_SEED"), 10, 64); err == nil {
		return seed, seed
	}
	if seeds, err := strconv.ParseUint(os.Getenv("SLOTS_SEEDS"), 10, 64); err == nil {
		count = seeds
	}
	return 1, count
}

func simulate(seed uint64, tracing bool) *world {
	w := newWorld(seed, tracing)
	if w.IntN(4) > 0 {
		w.settle(40)
	}
	for range 60 + w.IntN(100) {
		w.event()
		for range w.IntN(8) {
			w.step()
		}
		if w.wrong != "" {
			return w
		}
	}
	w.log("no more events")
	w.suspended, w.killed = false, false
	w.healMemory()
	w.cordoned[w.IntN(3)] = false
	if !w.settle(1500) {
		w.violated("it does not come to rest")
	}
	w.checkRest()
	return w
}

// TestADrainedCacheKeepsItsKeys: Pods are evicted one after another, and each is deleted only when its keys are copied.
func TestADrainedCacheKeepsItsKeys(t *testing.T) {
	for seed := range uint64(50) {
		w := newWorld(seed, true)
		w.settle(100)
		for slot := range w.size {
			holder := w.pod(w.slice[slot].UID)
			w.terminate(holder)
			deleted := w.now
			if !w.settle(500) || w.pod(holder.UID) != nil {
				t.Fatalf("seed %d: %s is not deleted\n%s", seed, holder.Name, strings.Join(w.trace, "\n"))
			}
			next := w.pod(w.slice[slot].UID)
			if next == nil || next.complete != holder.UID || next.Instruction.Record.State != instruction.StateServing {
				t.Fatalf("seed %d: the keys of %s are lost\n%s", seed, holder.Name, strings.Join(w.trace, "\n"))
			}
			w.log("it took %s", w.now.Sub(deleted))
		}
		w.checkRest()
		if w.wrong != "" {
			t.Fatalf("seed %d: %s\n%s", seed, w.wrong, strings.Join(w.trace, "\n"))
		}
	}
}

// settle lets everything happen without events, until nothing changes for a while. It returns false if that takes more
// than this number of rounds.
func (w *world) settle(rounds int) bool {
	quiet := 0
	for range rounds {
		before := w.state()
		w.seeAll()
		writes := w.operate(func() {})
		w.deploy()
		for _, set := range w.sets {
			w.replicate(set)
		}
		for _, pod := range slices.Clone(w.pods) {
			w.obey(pod)
			w.kubelet(pod)
		}
		w.now = w.now.Add(time.Second)
		quiet++
		if writes > 0 || w.state() != before {
			quiet = 0
		}
		if w.wrong != "" || quiet > int(simTimeout.Seconds())+2 {
			return true
		}
	}
	return false
}

// state returns a number that grows with every change.
func (w *world) state() int {
	state := w.sliceRV + w.names + len(w.pods)
	for _, pod := range w.pods {
		state += pod.rv + pod.agent.copied + pod.memory.changes
	}
	for _, set := range w.sets {
		state += 1000 * set.replicas
	}
	return state
}

// step lets one part of the cluster run.
func (w *world) step() {
	w.now = w.now.Add(time.Duration(w.IntN(2000)) * time.Millisecond)
	switch w.IntN(9) {
	case 0:
		w.deploy()
	case 1:
		for _, set := range w.sets {
			w.replicate(set)
		}
	case 2, 3:
		w.seeSome()
		w.operate(func() {
			if w.IntN(4) == 0 {
				w.inPods()
			}
		})
	case 4:
		w.seeAll()
		w.operate(func() {})
	default:
		w.inPods()
	}
}

// inPods lets things happen in some Pods.
func (w *world) inPods() {
	for _, pod := range slices.Clone(w.pods) {
		switch w.IntN(3) {
		case 0:
			w.kubelet(pod)
		case 1:
			w.obey(pod)
		}
	}
}

// checkGates checks that no Pod is ready for a slot after a reconciliation that saw another ready Pod hold the slot.
func (w *world) checkGates(in Input) {
	for _, left := range in.Pods {
		pod := w.pod(left.UID)
		if pod == nil || left.Instruction.Role != instruction.Leave || !pod.GateTrue || pod.Terminating || pod.rv != w.view.versions[pod.UID] {
			continue
		}
		for _, endpoint := range in.Endpoints {
			i := slices.IndexFunc(in.Pods, func(p Pod) bool { return p.UID == endpoint.UID })
			if i >= 0 && in.Pods[i].Ready && in.Pods[i].Instruction.Slot == pod.Instruction.Slot {
				w.violated("%s and %s are ready for the same slot", in.Pods[i].Name, pod.Name)
			}
		}
	}
}

// event lets something happen outside of the controllers.
func (w *world) event() {
	if w.IntN(3) > 0 {
		return
	}
	var pod *simPod
	if len(w.pods) > 0 {
		pod = w.pods[w.IntN(len(w.pods))]
	}
	if w.mem != nil && w.IntN(2) == 0 {
		w.memoryEvent()
		return
	}
	switch event := w.IntN(17); {
	case event < 2:
		w.template = string(rune('a' + w.IntN(3)))
		w.setTemplate(w.template)
		w.log("EVENT template %s", w.template)
	case event < 4:
		w.size = w.IntN(6)
		w.log("EVENT size %d", w.size)
	case event < 6:
		node := w.IntN(len(w.cordoned))
		w.cordoned[node] = !w.cordoned[node]
		w.log("EVENT Node %d cordoned: %v", node, w.cordoned[node])
	case event == 6:
		w.suspended = !w.suspended
		w.log("EVENT suspended %v", w.suspended)
	case event == 7:
		w.handoff = !w.handoff
		w.log("EVENT handoff %v", w.handoff)
	case event == 8:
		w.killed = true
	case event == 9:
		w.now = w.now.Add(time.Duration(w.IntN(60)) * time.Second)
	case pod != nil:
		w.disturb(pod, event)
	}
}

// healthy returns how many Pods a PodDisruptionBudget counts as healthy.
func (w *world) healthy() int {
	count := 0
	for _, pod := range w.pods {
		if pod.Ready && !pod.Terminating {
			count++
		}
	}
	return count
}

// disturb lets something happen to one Pod.
func (w *world) disturb(pod *simPod, event int) {
	switch event {
	case 10:
		w.log("EVENT delete %s", pod.Name)
		w.terminate(pod)
	case 11:
		w.log("EVENT %s ends immediately", pod.Name)
		w.terminate(pod)
		w.end(pod)
	case 12:
		if !pod.Terminating && (!pod.Ready || w.healthy() == w.size) {
			w.log("EVENT evict %s", pod.Name)
			w.terminate(pod)
		}
	case 13:
		w.log("EVENT the agent of %s is killed", pod.Name)
		w.endAgent(pod, false)
	case 14:
		pod.agent.fails = true
	case 15:
		pod.agent.hangs = !pod.agent.hangs
		w.log("EVENT %s hangs: %v", pod.Name, pod.agent.hangs)
	case 16:
		w.edited = true
		w.edit(pod)
	}
}

// reportRoles makes sure that, settleTime after each instruction, the agent has followed it, the kubelet has reported
// the state of the Pod, and the operator has seen this state.
func (w *world) reportRoles() {
	for _, pod := range slices.Clone(w.pods) {
		since := pod.Instruction.Since
		if since.Equal(pod.reported) || w.now.Before(since.Add(settleTime-time.Second)) {
			continue
		}
		pod.reported = since
		if order, _ := withoutMemory(pod.Instruction.Order()); pod.agent.seen != order {
			w.obey(pod)
		}
		w.kubelet(pod)
		w.see(pod.UID)
	}
}
