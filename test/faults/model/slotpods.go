package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// These are the names that the documentation gives to the readiness gate, and to the annotation with the operator's
// instruction.
const (
	hasSlot      = "cache.example.com/has-slot"
	handoff      = "cache.example.com/handoff"
	deletionCost = "controller.kubernetes.io/pod-deletion-cost"
)

// order is the operator's instruction for the agent of a Pod.
type order struct {
	Slot, Role, From string
	Since            time.Time
	Record           struct{ MovedAt time.Time }
}

func orderOf(pod *object) order {
	var o order
	_ = json.Unmarshal([]byte(pod.GetAnnotations()[handoff]), &o)
	return o
}

// hasHeld reports whether a Pod has served the slot in its instruction, and has not handed it over.
func (o order) hasHeld(pod *object) bool {
	switch o.Role {
	case "serve", "cold":
		return conditionIs(pod, hasSlot) || !o.Record.MovedAt.IsZero()
	}
	return o.Role == "moved"
}

func agentReady(pod *object) bool {
	statuses, _ := value(pod, "status", "initContainerStatuses").([]any)
	return slices.ContainsFunc(statuses, func(status any) bool {
		fields, _ := status.(map[string]any)
		return fields["name"] == "agent" && fields["ready"] == true
	})
}

func conditionIs(pod *object, name string) bool {
	conditions, _ := value(pod, "status", "conditions").([]any)
	return slices.ContainsFunc(conditions, func(condition any) bool {
		fields, _ := condition.(map[string]any)
		return fields["type"] == name && fields["status"] == "True"
	})
}

func hasEnded(pod *object) bool {
	phase := text(pod, "status", "phase")
	return phase == "Failed" || phase == "Succeeded"
}

// isGated reports whether the Pods of a Deployment have the readiness gate, so that they become ready only with a slot.
func isGated(deployment *object) bool {
	return hasGate(value(deployment, "spec", "template", "spec", "readinessGates"))
}

func isGatedPod(pod *object) bool { return hasGate(value(pod, "spec", "readinessGates")) }

func hasGate(gates any) bool {
	list, _ := gates.([]any)
	return slices.ContainsFunc(list, func(gate any) bool {
		fields, _ := gate.(map[string]any)
		return fields["conditionType"] == hasSlot
	})
}

// isOfSlots reports whether a request changes only the parts of a Pod that the operator may change.
func isOfSlots(q *audit.Request) bool {
	body := bodyOf(q)
	switch {
	case q.Verb != "patch" || q.ObjectRef.Resource != "pods":
		return false
	case body == nil: // The audit log has no body if the client has no right to the request.
		return q.Response.Code == http.StatusForbidden
	}
	metadata, _ := value(body, "metadata").(map[string]any)
	only := func(fields map[string]any, names ...string) bool {
		unknown := maps.Clone(fields)
		maps.DeleteFunc(unknown, func(name string, _ any) bool { return slices.Contains(names, name) })
		return len(unknown) == 0
	}
	switch q.ObjectRef.Subresource {
	case "":
		annotations, _ := metadata["annotations"].(map[string]any)
		labels, _ := metadata["labels"].(map[string]any)
		return only(body.Object, "metadata") && only(metadata, "uid", "resourceVersion", "annotations", "labels") &&
			only(annotations, handoff, deletionCost, discoveryMark, bootstrapMark) && only(labels, discoveryMark)
	case "status":
		status, _ := value(body, "status").(map[string]any)
		conditions, _ := status["conditions"].([]any)
		return only(body.Object, "metadata", "status") && only(metadata, "uid", "resourceVersion") &&
			only(status, "conditions") && len(conditions) == 1 && conditions[0].(map[string]any)["type"] == hasSlot
	case "resize":
		containers, _ := value(body, "spec", "containers").([]any)
		return only(body.Object, "metadata", "spec") && only(metadata, "uid", "resourceVersion") &&
			len(containers) == 1 && encoded(containers[0]) == encoded(onlyMemory(containers[0]))
	}
	return false
}

// onlyMemory returns the part of a change to memcached's container that changes its memory.
func onlyMemory(container any) any {
	memory := func(of string) any {
		quantity, _, _ := unstructured.NestedString(container.(map[string]any), "resources", of, "memory")
		return map[string]any{"memory": quantity}
	}
	return map[string]any{
		"name": "memcached", "resources": map[string]any{"requests": memory("requests"), "limits": memory("limits")},
	}
}

// deploymentsSeen returns the states of a cache's Deployment which a process may have seen.
func (p *past) deploymentsSeen(cache string, process history.Process) []*object {
	var seen []*object
	for uid, states := range p.objects {
		if refOf(states[0].object) == (ref{"Deployment", cache}) && p.existed(process, uid) {
			seen = append(seen, p.seen(process, uid)...)
		}
	}
	return seen
}

// mayHave reports whether the operator may create an object of slots: the spec requests slots, or the Pods still have
// them.
func (p *past) mayHave(mc *cachev1.Memcached, of slotRef, process history.Process) bool {
	on := of.isDiscovery() || wantsSlots(mc) || recordsSlots(mc) ||
		slices.ContainsFunc(p.deploymentsSeen(mc.Name, process), isGated)
	return on && of.isWanted(mc)
}

// slotNotToBeDeleted returns why the operator may not request the deletion of an object of slots.
func (p *past) slotNotToBeDeleted(of slotRef, q *audit.Request) string {
	process := history.ProcessOf(q)
	seen := p.deploymentsSeen(of.cache, process)
	if of.isDiscovery() || of.isBootstrap() {
		return p.neededWithoutSlots(of, q)
	}
	if len(seen) == 0 || slices.ContainsFunc(seen, func(o *object) bool { return !isGated(o) }) || of.family == "ipv6" {
		return ""
	}
	for _, mc := range p.specsNamed(of.cache, process) {
		if !wantsSlots(mc) || !of.isWanted(mc) || sizeOf(mc) == 0 { // A cache without Pods needs no record.
			return ""
		}
	}
	return fmt.Sprintf("the operator requested the deletion of %s %s, although the cache has slots, and got the "+
		"status code %d", q.Resource(),
		q.ObjectRef.Name, q.Response.Code)
}

// settles is how long after an instruction the operator may act although nothing changes.
const settles = 8 * time.Second

// handsOver reports whether a slot of a cache is being handed over to another Pod. During this, the operator reconciles
// the cache from time to time.
func (r *rest) handsOver(cache string, now time.Time) bool {
	return slices.ContainsFunc(r.existing("Pod"), func(pod *object) bool {
		of := pod.GetLabels()["memcached_cr"]
		o := orderOf(pod)
		return isGatedPod(pod) && (of == cache || cache == "") &&
			(o.Role != "" && o.Role != "serve" || now.Before(o.Since.Add(settles)))
	})
}
