package slots

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// world is a simulated cluster with one cache: the real state of the cluster, and the operator's view of this state.
type world struct {
	*rand.Rand
	now   time.Time
	size  int
	trace []string // nil without tracing
	wrong string   // the first violation

	// The spec.
	template           string
	suspended, handoff bool
	scaling            *Scaling

	// The cluster.
	deployment deployment
	sets       []*replicaSet
	pods       []*simPod
	slice      []Endpoint
	listed     int
	sliceRV    int
	cordoned   [3]bool
	names      int
	addresses  int

	view     view
	killed   bool      // the operator ends after the next write
	operated time.Time // when all writes of the operator were made
	losses   int       // holders that a ReplicaSet deleted
	careful  bool      // a holder that ends before its successor has the keys is a violation

	mem    *simMemory // nil if no memory changes
	edited bool       // another client edited an instruction at some time

	patience time.Duration // how long a Pod that terminates waits for a copy to begin
}

const (
	simTimeout = 40 * time.Second
	simDrain   = 3 * time.Second
	simAbsent  = 35 * time.Second // for how long the agent does not believe that its slot has no Pod
	simCopies  = 4                // steps of the agent that a copy takes
	simOverlap = 10 * time.Second
	simUnready = 12 * time.Second // for how long at least an agent that sends is not ready
)

// simPod is a Pod, with the state of its programs.
type simPod struct {
	Pod
	rv      int
	node    int
	running bool
	deleted time.Time // when it began to terminate
	gave    time.Time // when it found, while it terminates, that another Pod has its slot, or that no Pod has
	ready   time.Time
	lost    time.Time // when its agent ended, or lost its instruction

	memcached bool              // memcached answers
	complete  string            // uid of the Pod whose keys it copied
	scaled    instruction.Scale // the change to the list for which it copied keys
	reported  time.Time
	agent     simAgent
	memory    simPodMemory
}

// simAgent is the agent in a Pod.
type simAgent struct {
	seen    instruction.Instruction
	ready   bool
	copied  int
	source  string    // uid of the Pod that it copies
	since   time.Time // when it began to follow the instruction
	flushed bool
	hangs   bool
	fails   bool
}

func newWorld(seed uint64, tracing bool) *world {
	w := &world{
		Rand: rand.New(rand.NewPCG(seed, 20)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		handoff: true, template: "a", patience: 20 * time.Second,
	}
	w.size = 1 + w.IntN(4)
	if seed%2 == 0 {
		w.scaling = &Scaling{Hash: "Ketama", Names: "shop-#", Overlap: simOverlap}
	}
	w.deployment = deployment{template: "a", replicas: w.size, surge: 1}
	if w.IntN(3) == 0 {
		w.deployment.surge = 1 + w.IntN(3)
	}
	if tracing {
		w.trace = []string{fmt.Sprintf("size %d, surge %d", w.size, w.deployment.surge)}
	}
	if seed%3 > 0 {
		w.changeMemory()
	}
	w.view.pods = map[string]Pod{}
	w.view.versions = map[string]int{}
	return w
}

func (w *world) log(format string, arguments ...any) {
	if w.trace != nil {
		w.trace = append(w.trace, fmt.Sprintf("%4.0fs ", w.now.Sub(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).Seconds())+
			fmt.Sprintf(format, arguments...))
	}
}

func (w *world) violated(format string, arguments ...any) {
	if w.wrong == "" {
		w.wrong = fmt.Sprintf(format, arguments...)
		w.log("VIOLATED: %s", w.wrong)
	}
}

func (w *world) pod(uid string) *simPod {
	for _, pod := range w.pods {
		if pod.UID == uid {
			return pod
		}
	}
	return nil
}

// slotOf returns the slot that a Pod holds in the slice, or none.
func (w *world) slotOf(uid string) int {
	for _, endpoint := range w.slice {
		if endpoint.UID == uid {
			return endpoint.Slot
		}
	}
	return none
}

func (w *world) create(hash string) {
	w.names++
	pod := &simPod{Pod: Pod{
		Name: fmt.Sprintf("%s%d", hash, w.names), UID: fmt.Sprintf("uid-%d", w.names), Hash: hash, Gated: true,
		Created: w.now,
	}, rv: 1, node: none}
	w.createMemory(pod)
	w.pods = append(w.pods, pod)
	w.log("created %s", pod.Name)
}

// kubelet runs a Pod, and reports its state.
func (w *world) kubelet(pod *simPod) {
	before := pod.Pod
	switch {
	case pod.Terminating && (!pod.running || w.mayEnd(pod)):
		w.end(pod)
		return
	case pod.Terminating:
	case pod.node == none:
		w.schedule(pod)
		return
	case !pod.running:
		pod.running, pod.IP = true, w.address()
		pod.memory.allocated = pod.Container
	case !pod.memcached:
		pod.memcached = true
		pod.memory.given = startedWith(pod.Hash)
	}
	w.resizeContainer(pod)
	pod.MemcachedReady, pod.AgentReady = pod.memcached, pod.running && pod.agent.ready
	ready := pod.MemcachedReady && pod.AgentReady && pod.GateTrue
	if ready && !pod.Ready {
		pod.ready = w.now
	}
	pod.Ready = ready
	if pod.Pod != before {
		pod.rv++
	}
}

func (w *world) schedule(pod *simPod) {
	node := w.IntN(len(w.cordoned))
	if !w.cordoned[node] {
		pod.node = node
		pod.rv++
	}
}

// address returns an IP address that no Pod has, often one that a Pod had.
func (w *world) address() string {
	for {
		address := fmt.Sprintf("10.0.0.%d", 1+w.addresses%max(12, 2*len(w.pods)))
		w.addresses++
		if !slices.ContainsFunc(w.pods, func(p *simPod) bool { return p.IP == address }) {
			return address
		}
	}
}

// obey lets the agent in a Pod do what its instruction says.
func (w *world) obey(pod *simPod) {
	if !pod.running {
		return
	}
	w.give(pod)
	agent, now := &pod.agent, pod.Instruction.Order()
	now.Memory = 0
	if now.Role == Unknown {
		now = agent.seen
	}
	if agent.seen != now {
		if now.Role != instruction.Moved && now.Role != instruction.Serve || agent.seen.Role == instruction.None {
			*agent = simAgent{hangs: agent.hangs, fails: agent.fails}
		}
		agent.seen, agent.since = now, w.now
		if now.Role == instruction.Send {
			agent.ready, agent.copied = false, 0
		}
		return
	}
	switch now.Role {
	case instruction.Receive, instruction.Send:
		if now.Scale != (instruction.Scale{}) {
			w.copyScaled(pod)
		} else {
			w.copy(pod)
		}
	case instruction.Cold:
		agent.ready, agent.flushed = pod.memcached, pod.memcached
	case instruction.None:
		agent.ready = false
	case instruction.Leave:
		agent.ready = true
		if w.IntN(20) == 0 {
			pod.memcached = false // It ends; the kubelet starts it again.
		}
	default:
		agent.ready = true
	}
}

func (w *world) copy(pod *simPod) {
	agent := &pod.agent
	i := slices.IndexFunc(w.pods, func(p *simPod) bool { return p.IP == agent.seen.From && p.memcached })
	switch {
	case agent.ready || agent.hangs:
	case i < 0 || agent.fails || !pod.memcached || agent.source != "" && agent.source != w.pods[i].UID:
		agent.fails = false
		w.endAgent(pod, true)
	default:
		agent.source = w.pods[i].UID
		agent.copied++
		if agent.ready = agent.copied >= simCopies; agent.ready {
			pod.complete = agent.source
		}
	}
}

// copyScaled lets the agent in a Pod copy keys between Pods, for a change to the length of clients' list.
func (w *world) copyScaled(pod *simPod) {
	agent := &pod.agent
	missing := slices.ContainsFunc(agent.seen.Scale.Addresses(), func(address string) bool {
		return !slices.ContainsFunc(w.pods, func(p *simPod) bool { return p.IP == address && p.memcached })
	})
	switch {
	case agent.ready || agent.hangs:
	case missing || agent.fails || !pod.memcached:
		agent.fails = false
		w.endAgent(pod, true)
	default:
		agent.copied++
		isSeen := agent.seen.Role == instruction.Receive || !w.now.Before(agent.since.Add(simUnready))
		if agent.ready = agent.copied >= simCopies && isSeen; agent.ready {
			pod.scaled = agent.seen.Scale
		}
	}
}

// endAgent ends the agent; it starts again immediately.
func (w *world) endAgent(pod *simPod, failed bool) {
	pod.agent = simAgent{hangs: pod.agent.hangs, flushed: pod.agent.flushed} // An emptied memcached stays empty.
	pod.AgentReady, pod.Ready, pod.lost = false, false, w.now
	if failed {
		pod.Failure = Failure{At: w.now}
	}
	pod.rv++
	w.log("the agent of %s ends, failed: %v", pod.Name, failed)
}
