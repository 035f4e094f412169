package slots

import (
	"maps"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// view is what the operator sees: each object as it was at some earlier time, which may differ from object to object.
type view struct {
	hash     string
	pods     map[string]Pod
	versions map[string]int
	slice    []Endpoint
	listed   int
	sliceRV  int
}

// see updates the view of a Pod.
func (w *world) see(uid string) {
	if pod := w.pod(uid); pod != nil {
		w.view.pods[uid], w.view.versions[uid] = pod.Pod, pod.rv
	} else {
		delete(w.view.pods, uid)
		delete(w.view.versions, uid)
	}
}

func (w *world) seeSlice() {
	w.view.slice, w.view.listed, w.view.sliceRV = w.slice, w.listed, w.sliceRV
}

// seeSome updates a random part of the view.
func (w *world) seeSome() {
	switch w.IntN(4) {
	case 0:
		w.seeSlice()
	case 1:
		w.seeSet()
	case 2:
		for uid := range w.view.pods {
			if w.pod(uid) == nil {
				w.see(uid)
			}
		}
	}
	for _, pod := range w.pods {
		if w.IntN(2) == 0 {
			w.see(pod.UID)
		}
	}
}

func (w *world) seeSet() {
	if w.setOf(w.deployment.template) != nil {
		w.view.hash = w.deployment.template
	}
}

func (w *world) seeAll() {
	w.seeSlice()
	w.seeSet()
	for uid := range w.view.pods {
		w.see(uid)
	}
	for _, pod := range w.pods {
		w.see(pod.UID)
	}
}

// input returns the input that the operator gives to Decide. A Pod that is in the slice but not in the cache is read
// from the API server.
func (w *world) input() Input {
	in := Input{
		Cache: "shop", Size: w.size, Suspended: w.suspended, Handoff: w.handoff, Timeout: simTimeout, Rate: 1,
		Drain: simDrain, Now: w.now, Deployed: w.deployment.replicas, Hash: w.view.hash, Endpoints: w.view.slice,
		Listed: w.view.listed, Scaling: w.scaling, Memory: w.specMemory(),
	}
	for _, pod := range w.pods { // in a fixed order
		if seen, found := w.view.pods[pod.UID]; found {
			in.Pods = append(in.Pods, seen)
		} else if slices.ContainsFunc(w.view.slice, func(e Endpoint) bool { return e.UID == pod.UID }) {
			in.Pods = append(in.Pods, pod.Pod)
		}
	}
	var deleted []Pod
	for uid, pod := range w.view.pods {
		if w.pod(uid) == nil {
			deleted = append(deleted, pod)
		}
	}
	slices.SortFunc(deleted, func(x, y Pod) int { return olderFirst(&x, &y) })
	in.Pods = append(in.Pods, deleted...)
	return in
}

// operate is one reconciliation. Other things happen between the operator's writes, and the operator may end after any
// write. It returns the number of writes.
func (w *world) operate(between func()) int {
	w.reportRoles()
	w.planMemory()
	in := w.input()
	d := Decide(in)
	if w.suspended {
		w.deployment.paused = true
		if len(d.Changes) > 0 || !slices.Equal(d.Endpoints, in.Endpoints) {
			w.violated("it is suspended, but: %+v", d)
		}
		return 0
	}
	version, versions := w.view.sliceRV, maps.Clone(w.view.versions)
	var writes []func()
	if !slices.Equal(d.Endpoints, in.Endpoints) || d.Listed != in.Listed {
		writes = append(writes, func() { w.writeSlice(d.Endpoints, d.Listed, version) })
	}
	for _, change := range d.Changes {
		if change.Instruction != nil || change.Cost != nil {
			writes = append(writes, func() { versions[change.UID] = w.writePod(change, false, versions[change.UID]) })
		}
		if change.Gate != nil {
			writes = append(writes, func() { versions[change.UID] = w.writePod(change, true, versions[change.UID]) })
		}
		if change.Container != nil && !w.mem.refusesAPI {
			writes = append(writes, func() { versions[change.UID] = w.writeContainer(change, versions[change.UID]) })
		}
	}
	if d.Replicas != w.deployment.replicas || w.deployment.template != w.template || w.deployment.paused {
		writes = append(writes, func() {
			w.log("replicas %d, template %s", d.Replicas, w.template)
			w.deployment.replicas, w.deployment.template, w.deployment.paused = d.Replicas, w.template, false
		})
	}
	for _, write := range writes {
		write()
		if w.killed {
			w.killed = false
			w.log("the operator ends")
			return len(writes)
		}
		between()
	}
	w.checkGates(in)
	w.operated = w.now
	return len(writes)
}

// shown is an instruction that is encoded only if it is printed.
type shown instruction.Instruction

func (s shown) String() string { return instruction.Instruction(s).Encode() }

func (w *world) writePod(change Change, gate bool, version int) int {
	pod := w.pod(change.UID)
	if pod == nil || pod.rv != version {
		w.log("conflict of %s", change.Pod)
		return version
	}
	if gate {
		w.log("%s: gate %v", pod.Name, *change.Gate)
		pod.GateTrue = *change.Gate
	} else {
		if change.Instruction != nil {
			w.instruct(pod, *change.Instruction)
		}
		if change.Cost != nil {
			w.log("%s: cost %d", pod.Name, *change.Cost)
			pod.Cost = *change.Cost
		}
	}
	pod.rv++
	if !w.killed || w.IntN(2) == 0 {
		w.see(pod.UID)
	}
	return pod.rv
}

func (w *world) instruct(pod *simPod, i instruction.Instruction) {
	if w.careful && i.Role == instruction.Leave && w.isNeeded(pod) {
		w.violated("%s is sent away, and no other Pod has its keys", pod.Name)
	}
	w.log("%s: %s -> %s", pod.Name, shown(pod.Instruction), shown(i))
	pod.Instruction = i
}

func (w *world) writeSlice(endpoints []Endpoint, listed, version int) {
	if version != w.sliceRV {
		w.log("conflict of the slice")
		return
	}
	w.log("slice %d: %v", listed, endpoints)
	w.checkSlice(endpoints)
	w.checkListed(endpoints, listed)
	w.slice, w.listed = endpoints, listed
	w.sliceRV++
	if !w.killed || w.IntN(2) == 0 {
		w.seeSlice()
	}
}

// checkSlice checks that every slot stays at its Pod, or moves to a Pod that has the keys of the slot or may start
// without them.
func (w *world) checkSlice(endpoints []Endpoint) {
	slots, pods := map[int]string{}, map[string]bool{}
	for _, endpoint := range endpoints {
		if slots[endpoint.Slot] != "" || pods[endpoint.UID] || endpoint.IP == "" {
			w.violated("two Pods for a slot, or two slots for a Pod: %v", endpoints)
		}
		slots[endpoint.Slot], pods[endpoint.UID] = endpoint.UID, true
	}
	for _, old := range w.slice {
		holder := w.pod(old.UID)
		if old.Slot >= w.size || slots[old.Slot] == old.UID {
			continue
		}
		next := w.pod(slots[old.Slot])
		switch {
		case slots[old.Slot] == "" && holder != nil && holder.Instruction.Role == instruction.Leave:
			// The size was smaller for a moment, without Scaling.
		case slots[old.Slot] == "" && holder != nil && holder.Instruction.Role == instruction.Send:
			// The same, with Scaling.
		case slots[old.Slot] == "":
			w.violated("slot %d has no endpoint", old.Slot)
		case holder == nil || next == nil:
		case next.complete == holder.UID: // It may be instructed to start cold in the same moment.
		case next.Instruction.Role == instruction.Cold && next.agent.flushed:
		case next.Instruction.Role == instruction.Serve && next.Instruction.Record.Reason == ReasonNever:
		default:
			w.violated("slot %d moves from %s to %s: %s", old.Slot, holder.Name, next.Name, shown(next.Instruction))
		}
	}
}

// checkListed checks that clients' list changes only once the keys are where clients will look for them.
func (w *world) checkListed(endpoints []Endpoint, listed int) {
	isFilled := len(w.slice) == w.listed // Otherwise some slots never had a Pod.
	if w.scaling == nil || !w.handoff || !isFilled || listed == w.listed || w.listed*w.size*listed == 0 {
		return
	}
	at := func(list []Endpoint, slot int) *simPod {
		i := slices.IndexFunc(list, func(e Endpoint) bool { return e.Slot == slot })
		if i < 0 {
			return nil
		}
		return w.pod(list[i].UID)
	}
	pod := at(endpoints, w.listed)
	if listed < w.listed {
		pod = at(w.slice, listed)
	}
	switch {
	case listed != w.listed+1 && listed != w.listed-1:
		w.violated("the list changes from %d to %d", w.listed, listed)
	case pod == nil: // The Pod has just ended.
	case !pod.Failure.At.IsZero() && listed < w.listed, pod.Instruction.Role == instruction.Cold:
	case !w.now.Before(pod.Instruction.Since.Add(simTimeout)):
	case pod.scaled.Before != w.listed || pod.scaled.After != listed:
		w.violated("the list changes from %d to %d before %s has copied: %s", w.listed, listed, pod.Name, shown(pod.Instruction))
	}
}

// checkRest checks the end: every slot has a ready Pod of the current template, and nothing else exists.
func (w *world) checkRest() {
	in := w.input()
	d := Decide(in)
	if diff := cmp.Diff(Decision{Endpoints: in.Endpoints, Listed: w.size, Replicas: w.size}, Decision{
		Endpoints: d.Endpoints, Listed: d.Listed, Replicas: d.Replicas, Changes: w.refusable(d.Changes),
	}); diff != "" {
		w.violated("it is not at rest (-observed +desired):\n%s", diff)
	}
	w.checkMemoryRest(d)
	if len(w.slice) != w.size || len(w.pods) != w.size || w.deployment.replicas != w.size {
		w.violated("size %d, replicas %d, slice %v, %d Pods", w.size, w.deployment.replicas, w.slice, len(w.pods))
	}
	for _, endpoint := range w.slice {
		pod := w.pod(endpoint.UID)
		if pod == nil || !pod.Ready || pod.Hash != w.template || pod.Cost != 0 || !endpoint.Ready {
			w.violated("slot %d is not held as it should be: %v", endpoint.Slot, endpoint)
		}
	}
}
