package slots

// The memory of the Pods of a world: who changes it, who refuses it, and what must hold.

import (
	"fmt"
	"strconv"
	"strings"
)

// simMemory is the memory that the spec requests, in MiB, and what prevents or delays it.
type simMemory struct {
	wanted           int64
	replace, invalid bool
	whole            bool      // containers request their limit
	refusesAPI       bool      // the API server refuses to resize a container
	node             [3]string // why the kubelet of each Node refuses a resize; empty if it does not
	late             int       // the number of steps, of 10, in which a kubelet resizes nothing
	lags             bool      // the Deployment controller has not seen the Deployment
	forever          bool      // the refusals do not end
}

// simPodMemory is the memory that memcached in a Pod has, and the most that it had, in MiB, and the resources that the
// kubelet gave its container.
type simPodMemory struct {
	given, former int64
	allocated     Container
	changes       int
}

// simBase is the memory that a container needs in addition to the items, in MiB.
const simBase = 10

func (m *simMemory) container(wanted, former int64) Container {
	c := Container{Request: wanted * mib, Limit: (wanted + simBase + (max(former, wanted)-wanted)/16) * mib}
	if m.whole {
		c.Request = c.Limit
	}
	return c
}

// startedWith returns the memory that Pods of a template start with: the number at the end of the template's name.
func startedWith(template string) int64 {
	_, text, _ := strings.Cut(template, "-")
	mebibytes, _ := strconv.ParseInt(text, 10, 64)
	return mebibytes
}

// setTemplate changes the spec to a template, with the current memory.
func (w *world) setTemplate(template string) {
	w.template = template
	if w.mem != nil {
		letter, _, _ := strings.Cut(template, "-")
		w.template = fmt.Sprintf("%s-%d", letter, w.mem.wanted)
	}
}

// changeMemory prepares a world in which the memory changes.
func (w *world) changeMemory() {
	w.mem = &simMemory{wanted: 64, whole: w.IntN(3) == 0}
	w.setTemplate("a")
	w.deployment.template = w.template
}

// specMemory returns the memory that the plan derives from the spec; nil if the memory of the Pods may not change now.
func (w *world) specMemory() *Memory {
	m := w.mem
	isDeployed := w.deployment.template == w.template && w.view.hash == w.deployment.template
	if m == nil || m.invalid || m.lags || !isDeployed {
		return nil
	}
	return &Memory{
		Started: startedWith(w.template) * mib, Wanted: m.wanted * mib, Whole: m.whole,
		Container: func(former int64) Container { return m.container(m.wanted, former/mib) },
	}
}

// planMemory changes the template, as the plan does if a Node never has room for a resize.
func (w *world) planMemory() {
	if w.mem == nil || w.mem.replace || w.mem.invalid || w.deployment.template != w.template {
		return
	}
	for _, pod := range w.view.pods {
		if pod.Hash == w.view.hash && !pod.Terminating && pod.ResizeRefused == "Infeasible" {
			w.setTemplate(w.template)
			return
		}
	}
}

func (w *world) createMemory(pod *simPod) {
	if w.mem != nil {
		started := startedWith(pod.Hash)
		pod.Container, pod.memory.former = w.mem.container(started, 0), started
	}
}

// give changes the memory of memcached as the agent does. It checks that memcached never needs more memory than its
// container has at that time, or is to have.
func (w *world) give(pod *simPod) {
	if w.mem == nil || !pod.memcached || pod.Instruction.Memory == 0 {
		return
	}
	m := &pod.memory
	if given := pod.Instruction.Memory / mib; given != m.given {
		w.log("%s: memcached has %d MiB", pod.Name, given)
		m.given, m.former, m.changes = given, max(m.former, given), m.changes+1
	}
	if needs := w.mem.container(m.given, m.former).Limit; needs > min(pod.Container.Limit, m.allocated.Limit) {
		w.violated("%s: memcached needs %d MiB; container %v, really %v", pod.Name, needs/mib, pod.Container, m.allocated)
	}
}

// resizeContainer resizes a container as the kubelet does, which reports the new size late.
func (w *world) resizeContainer(pod *simPod) {
	if w.mem == nil || !pod.running || w.IntN(10) < w.mem.late {
		return
	}
	m, refuses := &pod.memory, w.mem.node[pod.node]
	grows := pod.Container.Request > m.allocated.Request || pod.Container.Limit > m.allocated.Limit
	if pod.ResizeRefused = ""; grows && refuses != "" {
		pod.ResizeRefused = refuses
	} else {
		m.allocated = pod.Container
	}
	if w.IntN(2) == 0 {
		pod.Actual = m.allocated
	}
}

// writeContainer changes a container, and checks that its limit never falls.
func (w *world) writeContainer(change Change, version int) int {
	pod := w.pod(change.UID)
	if pod == nil || pod.rv != version {
		w.log("conflict of %s", change.Pod)
		return version
	}
	if change.Container.Limit < pod.Container.Limit {
		w.violated("%s: the limit falls from %v to %v", pod.Name, pod.Container, *change.Container)
	}
	w.log("%s: container %v -> %v", pod.Name, pod.Container, *change.Container)
	pod.Container = *change.Container
	pod.rv++
	if !w.killed || w.IntN(2) == 0 {
		w.see(pod.UID)
	}
	return pod.rv
}

func (w *world) memoryEvent() {
	m := w.mem
	m.lags = w.IntN(5) == 0
	switch w.IntN(11) {
	case 0, 1, 2, 3:
		m.wanted = []int64{16, 32, 64, 128, 256, 1024}[w.IntN(6)]
	case 4:
		m.replace = !m.replace
	case 5:
		m.invalid = !m.invalid
	case 6, 7:
		m.refusesAPI = !m.refusesAPI
	case 8, 9:
		m.node[w.IntN(3)] = []string{"", "Deferred", "Infeasible", "Error"}[w.IntN(4)]
	case 10:
		m.late = []int{0, 5, 9, 10}[w.IntN(4)]
	}
	if m.replace {
		w.setTemplate(w.template)
	}
	w.log("EVENT memory %+v, template %s", *m, w.template)
}

// healMemory ends all refusals, or makes some of them permanent. A permanent refusal then delays only the change to the
// memory.
func (w *world) healMemory() {
	m := w.mem
	if m == nil {
		return
	}
	m.invalid, m.late, m.lags, m.forever, m.refusesAPI, m.node = false, 0, false, w.IntN(2) == 0, false, [3]string{}
	if m.forever {
		m.refusesAPI, m.node = w.IntN(2) == 0, [3]string{"Deferred", "Deferred", "Deferred"}
	}
	w.log("healed: %+v", *m)
}

// refusable returns the changes without those that the API refuses for ever.
func (w *world) refusable(changes []Change) (left []Change) {
	for _, change := range changes {
		if w.mem != nil && w.mem.refusesAPI {
			change.Container = nil
		}
		if change != (Change{Pod: change.Pod, UID: change.UID}) {
			left = append(left, change)
		}
	}
	return left
}

// checkMemoryRest: every Pod has the memory of the spec and the request for it, and no new decision is due. Memory that
// another client's edit removed from an instruction may be lost.
func (w *world) checkMemoryRest(d Decision) {
	if w.mem == nil {
		return
	}
	if d.RequeueAfter != 0 {
		w.violated("at rest, it decides again after %s", d.RequeueAfter)
	}
	if w.mem.forever || w.edited {
		return
	}
	for _, pod := range w.pods {
		request := w.mem.container(w.mem.wanted, pod.memory.former).Request
		if w.mem.whole {
			request = pod.Container.Limit
		}
		if pod.memory.given != w.mem.wanted || pod.Container.Request != request || d.Resizing != "" {
			w.violated("at rest, %s has %d MiB, and requests %d: %q", pod.Name, pod.memory.given, pod.Container.Request/mib, d.Resizing)
		}
	}
}
