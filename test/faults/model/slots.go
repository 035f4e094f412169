package model

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

func slotRules() []Rule {
	return []Rule{{
		Name: "one Pod a slot",
		Promise: "The EndpointSlice of the slots has each slot once, with one Pod of the cache, and each Pod once. A " +
			"Pod that no longer exists is not marked as ready.",
		New: slotRule((*past).notOnePod),
	}, {
		Name: "no slot is empty while a Pod serves it",
		Promise: "A slot keeps its Pod until another Pod gets the slot. It has no Pod only if the Pod has ended, or if " +
			"the slot was removed because the size was reduced or slots were disabled.",
		New: slotRule((*past).emptied),
	}, {
		Name: "a slot moves only to a Pod that was ready for it",
		Promise: "A slot moves to a Pod only once the Pod's agent is ready for this slot. If keys are copied, the agent " +
			"is ready only when the Pod has all keys; otherwise, the Pod starts without keys.",
		New: slotRule((*past).movedTooEarly),
	}}
}

// change is a write by the operator to the record of slots.
type change struct {
	cache         string
	process       history.Process
	before, after []endpoint
	specs         []*cachev1.Memcached // the specs for which it may have been written
}

// endpoint is an entry of the record.
type endpoint struct {
	slot, address string
	pod           types.UID
	ready         bool
}

// slotRule returns a check that judges each write by the operator to the record.
func slotRule(judge func(*past, change) string) func(*past) func(history.Entry) string {
	return func(p *past) func(history.Entry) string {
		return func(e history.Entry) string {
			o, by := p.writes(e)
			if o == nil || o.GetKind() != "EndpointSlice" || e.State.Type == watch.Deleted {
				return ""
			}
			of, ok := slotOf(refOf(o))
			if !ok || !of.isRecord() {
				return ""
			}
			wrong := judge(p, change{
				of.cache, history.ProcessOf(by), endpoints(p.before(o)), endpoints(o), p.specsFor(o, by),
			})
			if wrong != "" {
				return fmt.Sprintf("the operator wrote EndpointSlice %s: %s", o.GetName(), wrong)
			}
			return ""
		}
	}
}

// endpoints reads the entries of an EndpointSlice.
func endpoints(slice *object) []endpoint {
	var found []endpoint
	list, _ := value(slice, "endpoints").([]any)
	for _, item := range list {
		fields, _ := item.(map[string]any)
		entry := &object{Object: fields}
		read := endpoint{
			slot: text(entry, "hostname"), pod: types.UID(text(entry, "targetRef", "uid")),
			ready: value(entry, "conditions", "ready") != false,
		}
		if addresses, _ := fields["addresses"].([]any); len(addresses) > 0 {
			read.address, _ = addresses[0].(string)
		}
		found = append(found, read)
	}
	return found
}

func find(entries []endpoint, slot string) (endpoint, bool) {
	i := slices.IndexFunc(entries, func(e endpoint) bool { return e.slot == slot })
	if i < 0 {
		return endpoint{}, false
	}
	return entries[i], true
}

func (p *past) notOnePod(c change) string {
	slots, pods := map[string]bool{}, map[types.UID]bool{}
	for _, entry := range c.after {
		if slots[entry.slot] || pods[entry.pod] {
			return fmt.Sprintf("the EndpointSlice has slot %s, or its Pod with uid %s, twice", entry.slot, entry.pod)
		}
		slots[entry.slot], pods[entry.pod] = true, true
		before, _ := find(c.before, entry.slot)
		switch states := p.objects[entry.pod]; {
		case before.pod == entry.pod && !entry.ready: // In this way, the record keeps a Pod that ended.
		case !slices.ContainsFunc(states, func(m moment) bool { return m.GetLabels()["memcached_cr"] == c.cache }):
			return fmt.Sprintf("the Pod of slot %s (uid %s) is none of the cache", entry.slot, entry.pod)
		case !p.existed(c.process, entry.pod):
			return fmt.Sprintf("the Pod of slot %s, %s, had been deleted before", entry.slot, states[0].GetName())
		case !slices.ContainsFunc(states, func(m moment) bool { return text(m.object, "status", "podIP") == entry.address }):
			return fmt.Sprintf("slot %s has the address %s, which is not that of its Pod", entry.slot, entry.address)
		}
	}
	return ""
}

func (p *past) emptied(c change) string {
	if len(c.specs) == 0 {
		return ""
	}
	for _, entry := range c.before {
		if _, kept := find(c.after, entry.slot); kept || !p.serves(entry.pod, entry.slot, c.process) {
			continue
		}
		of, _ := slotOf(ref{"Service", entry.slot})
		isBeyond := func(mc *cachev1.Memcached) bool { return of.slot == "" || !of.isBelow(sizeOf(mc)) }
		if !slices.ContainsFunc(c.specs, isBeyond) {
			return fmt.Sprintf("slot %s has no Pod any more, and %s serves it", entry.slot, p.objects[entry.pod][0].GetName())
		}
	}
	return ""
}

// serves reports whether a process of the operator must know that a Pod serves a slot.
func (p *past) serves(pod types.UID, slot string, process history.Process) bool {
	seen := p.seen(process, pod)
	return p.exists(pod) && len(seen) > 0 && !slices.ContainsFunc(seen, func(state *object) bool {
		o := orderOf(state)
		return o.Slot != slot || !o.hasHeld(state) || hasEnded(state) || !isGatedPod(state)
	})
}

func (p *past) movedTooEarly(c change) string {
	for _, entry := range c.after {
		if before, _ := find(c.before, entry.slot); before.pod == entry.pod {
			continue
		}
		seen := p.seen(c.process, entry.pod)
		if !slices.ContainsFunc(seen, func(state *object) bool { return p.isReadyFor(state, entry.slot) }) {
			return fmt.Sprintf("slot %s moved to the Pod with uid %s, which was not ready for it", entry.slot, entry.pod)
		}
	}
	return ""
}

// isReadyFor reports whether a Pod in this state may get a slot: it had the slot before, or its agent is ready with an
// instruction for this slot. If the agent copies keys, it must not have been ready at first, with the same instruction.
func (p *past) isReadyFor(state *object, slot string) bool {
	o := orderOf(state)
	switch {
	case o.Slot != slot:
		return false
	case o.hasHeld(state):
		return true
	case o.Role == "receive":
		return agentReady(state) && slices.ContainsFunc(p.objects[state.GetUID()], func(m moment) bool {
			return orderOf(m.object) == o && !agentReady(m.object)
		})
	}
	return (o.Role == "serve" || o.Role == "cold") && agentReady(state)
}
