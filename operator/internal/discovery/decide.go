package discovery

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// answering is how many Pods answer clients: enough that one may be lost, and few, because each change to the list is a
// write to each of these Pods.
const answering = 3

// Input is what a decision depends on.
type Input struct {
	// Endpoint is the address of the cache for clients without auto discovery.
	Endpoint string

	// Slots are the slots in their order. Without slots, the ready Pods are the servers.
	Slots []Slot

	// HasSlots: Slots are the servers, even if there are none.
	HasSlots bool

	// Port is the port of the Pods.
	Port int32

	// Pods are all Pods of the cache.
	Pods []Pod

	Now time.Time
}

// Slot is a slot with the address that clients use, and the name of the Pod that holds the slot; the name is empty if
// no Pod holds it.
type Slot struct {
	Node

	Pod string
}

// Pod is the observed state of a Pod.
type Pod struct {
	Name    string
	UID     string
	IP      string
	Created time.Time

	// Serves: the agent of the Pod can answer.
	Serves bool

	// Ready: the Pod is ready. Leaving: it terminates or has ended.
	Ready   bool
	Leaving bool

	// Answers: the Pod has the label with which the Service selects it. List is the content of its annotation.
	Answers bool
	List    string
}

// Decision is what to do now, and when to decide again.
type Decision struct {
	// Changes are the Pods to change.
	Changes []Change

	// After is after what time a change to the list is due; 0 if none is.
	After time.Duration
}

// Change is a change to a Pod. It leaves everything else of the Pod as it is.
type Change struct {
	Pod string
	UID string

	// Answers is whether the Pod answers from now on, with List. If not, it loses the label and the list.
	Answers bool
	List    string
}

// Decide decides which Pods answer, and with which list.
func Decide(in Input) Decision {
	list, after := in.list()
	chosen, content := in.choose(), list.Encode()
	decision := Decision{After: after}
	for _, pod := range in.Pods {
		answers := chosen[pod.UID]
		change := Change{Pod: pod.Name, UID: pod.UID, Answers: answers}
		if answers {
			change.List = content
		}
		if pod.Leaving || !pod.Serves && !pod.Answers || pod.Answers == answers && pod.List == change.List {
			continue
		}
		decision.Changes = append(decision.Changes, change)
	}
	return decision
}

// choose returns the uids of the Pods that answer. A Pod that answers continues to do so as long as it is ready,
// because another Pod would first have to get the list. Pods that are not ready yet get the list before clients can
// reach them.
func (in Input) choose() map[string]bool {
	candidates := slices.DeleteFunc(slices.Clone(in.Pods), func(pod Pod) bool { return pod.Leaving || !pod.Serves })
	rank := func(pod Pod) int {
		switch {
		case pod.Ready && pod.Answers:
			return 0
		case pod.Ready:
			return 1
		case pod.Answers:
			return 2
		}
		return 3
	}
	slices.SortFunc(candidates, func(a, b Pod) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), b.Created.Compare(a.Created), strings.Compare(a.Name, b.Name))
	})
	chosen := map[string]bool{}
	for _, pod := range candidates[:min(answering, len(candidates))] {
		chosen[pod.UID] = true
	}
	return chosen
}

// fromTheFuture is how far a version may be ahead of the clock. It is more than the clocks of two Nodes usually differ.
const fromTheFuture = time.Minute

// list returns the current list, and after what time a new list is due. If Pods already have the current list, its
// version does not change. The version of a new list is the time in seconds, which grows even if no Pod is left that
// has a former list. So there is at most one new list each second.
func (in Input) list() (list List, after time.Duration) {
	newest := List{}
	for _, pod := range in.Pods {
		if known, err := Decode(pod.List); err == nil && known.Version > newest.Version {
			newest = known
		}
	}
	list = List{Version: in.Now.Unix(), Endpoint: in.Endpoint, Nodes: in.nodes(newest)}
	next := time.Unix(newest.Version+1, 0)
	switch {
	case newest.isFor(list.Endpoint, list.Nodes):
		return newest, 0
	case next.Sub(in.Now) > fromTheFuture:
		list.Version = newest.Version + 1
	case next.After(in.Now):
		return newest, next.Sub(in.Now)
	}
	return list, 0
}

// nodes returns the servers of the cache. With slots, the servers depend on those in the newest list.
func (in Input) nodes(newest List) []Node {
	if in.HasSlots {
		return in.slotNodes(newest)
	}
	var addresses []netip.Addr
	for _, pod := range in.Pods {
		if address, err := netip.ParseAddr(pod.IP); err == nil && pod.Ready && !pod.Leaving {
			addresses = append(addresses, address)
		}
	}
	slices.SortFunc(addresses, netip.Addr.Compare)
	var nodes []Node
	for _, address := range addresses {
		nodes = append(nodes, Node{Host: address.String(), IP: address.String(), Port: in.Port})
	}
	return nodes
}

// slotNodes returns the slots that are servers. An announced slot stays in the list, whether it has a Pod or not, and
// even if its address changes because another Pod has its name. An added slot is announced only when it has its first
// Pod: until then, clients would ask it in vain for keys that other servers have. If no list has any of the slots, the
// new list has all of them.
func (in Input) slotNodes(newest List) []Node {
	listed, ready := map[string]bool{}, map[string]bool{}
	for _, node := range newest.Nodes {
		listed[node.slot()] = true
	}
	for _, pod := range in.Pods {
		ready[pod.Name] = pod.Ready
	}
	var all, nodes []Node
	isFirst := true
	for _, slot := range in.Slots {
		all = append(all, slot.Node)
		isFirst = isFirst && !listed[slot.slot()]
		if listed[slot.slot()] || ready[slot.Pod] {
			nodes = append(nodes, slot.Node)
		}
	}
	if isFirst {
		return all
	}
	return nodes
}

// slot returns the name of the slot of a server: the first part of its host name.
func (n Node) slot() string {
	name, _, _ := strings.Cut(n.Host, ".")
	return name
}
