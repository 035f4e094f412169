package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

func memoryRules() []Rule {
	return []Rule{{
		Name: "memcached fits into its container",
		Promise: "While the memory of running Pods changes, memcached never gets more memory for items than fits into " +
			"the limit that its container already has, and will keep. No container gets a limit below the memory that its " +
			"memcached needs for its items without clients.",
		New: overfull,
	}, {
		Name: "running Pods have the memory of the spec",
		Promise: "Once the faults are over, and a Memcached is Ready whose running Pods are resized, memcached and its " +
			"container in each Pod have the memory of the spec.",
		New: otherMemory,
	}}
}

func overfull(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		by := p.byOperator(e)
		if by == nil || e.State.Object.GetKind() != "Pod" {
			return ""
		}
		after, before := e.State.Object, p.before(e.State.Object)
		if before == nil {
			return ""
		}
		given, limit := itemMemory(after), memoryOf(after, "spec", "containers")
		needed := neededFor(after, given)
		switch {
		case given > itemMemory(before) && (limit < needed || !p.mayKnowOf(after, by, needed)):
			return fmt.Sprintf("the operator gives memcached of Pod %s %d MiB for items, and the limit of its container "+
				"may still be too low for this", after.GetName(),
				given/mebibyte)
		case limit < memoryOf(before, "spec", "containers") && limit < needed:
			return fmt.Sprintf("the container of Pod %s gets a limit of %d MiB, but its memcached has %d MiB for items, "+
				"and needs a limit of %d MiB", after.GetName(),
				limit/mebibyte, given/mebibyte, needed/mebibyte)
		}
		return ""
	}
}

// neededFor returns the memory that memcached's container needs for this many bytes of items, without clients, as in
// docs/memory.md. It is the sum of the items and 1 %, the hash table, 71 MiB, a part for each thread, and with slots
// the buffers of memcached's log.
func neededFor(pod *object, items int64) int64 {
	buckets := int64(1) << 16
	for buckets*144 < items {
		buckets *= 2
	}
	needed := items + items/100 + 12*buckets + 71*mebibyte + argumentOf(pod, "--threads=")*mebibyte/2
	if isGatedPod(pod) {
		needed += 32*mebibyte + argumentOf(pod, "--threads=")*8*mebibyte
	}
	return needed
}

// mayKnowOf reports whether the operator may have seen that memcached's container in the Pod has a memory limit of at
// least this many bytes.
func (p *past) mayKnowOf(pod *object, by *audit.Request, bytes int64) bool {
	return slices.ContainsFunc(p.seen(history.ProcessOf(by), pod.GetUID()), func(state *object) bool {
		return memoryOf(state, "status", "containerStatuses") >= bytes
	})
}

func otherMemory(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		if e.Step != history.PhaseReady {
			return ""
		}
		for _, mc := range p.upToDate() {
			if wrong := p.wrongMemory(mc); wrong != "" {
				return wrong
			}
		}
		return ""
	}
}

func (p *past) wrongMemory(mc *cachev1.Memcached) string {
	if !resizes(mc) || mc.Spec.Suspend {
		return ""
	}
	for _, pod := range p.podsOf(mc.Name) {
		if wrong := wrongMemory(pod, itemsOf(mc)); wrong != "" && pod.GetDeletionTimestamp() == nil {
			return fmt.Sprintf("%s is Ready, and Pod %s %s", mc.Name, pod.GetName(), wrong)
		}
	}
	return ""
}

func wrongMemory(pod *object, wanted int64) string {
	shall, has := memoryOf(pod, "spec", "containers"), memoryOf(pod, "status", "containerStatuses")
	switch given := itemMemory(pod); {
	case given != wanted:
		return fmt.Sprintf("has %d MiB for items, and the spec requests %d MiB", given/mebibyte, wanted/mebibyte)
	case shall != has:
		return fmt.Sprintf("is to have a container of %d MiB, and has one of %d", shall/mebibyte, has/mebibyte)
	}
	return ""
}

// resizes reports whether a change to the memory is applied to running Pods.
func resizes(mc *cachev1.Memcached) bool {
	return wantsSlots(mc) && keepsPods(mc)
}

// keepsPods reports whether a change to the memory alone replaces no Pod.
func keepsPods(mc *cachev1.Memcached) bool {
	return orEmpty(mc.Spec.Rollout).MemoryChange == cachev1.MemoryResize
}

// itemsOf returns the memory for items, in bytes: from the spec, or as the operator chose it.
func itemsOf(mc *cachev1.Memcached) int64 {
	if acts(mc) {
		return chosenBy(mc)
	}
	if mc.Spec.Memory == nil {
		return 64 * mebibyte
	}
	return mc.Spec.Memory.Value() / mebibyte * mebibyte
}

// itemMemory returns the memory that memcached in a Pod has for items, in bytes: according to the operator's
// instruction or, without one, to the arguments with which it was started.
func itemMemory(pod *object) int64 {
	var instruction struct{ Memory int64 }
	if json.Unmarshal([]byte(pod.GetAnnotations()[handoff]), &instruction) == nil && instruction.Memory > 0 {
		return instruction.Memory
	}
	return argumentOf(pod, memoryLimit) * mebibyte
}

// argumentOf returns the number in an argument of memcached in a Pod, or 0 without this argument.
func argumentOf(pod *object, name string) int64 {
	arguments, _ := memcachedIn(pod, "spec", "containers")["args"].([]any)
	for _, argument := range arguments {
		text, _ := argument.(string)
		if value, found := strings.CutPrefix(text, name); found {
			number, _ := strconv.ParseInt(value, 10, 64)
			return number
		}
	}
	return 0
}

// memoryLimit is memcached's option for the memory for items.
const memoryLimit = "--memory-limit="

// memoryOf returns the memory limit of memcached's container, in bytes, from one of the Pod's lists: spec.containers,
// or status.containerStatuses.
func memoryOf(pod *object, path ...string) int64 {
	text := text(&object{Object: memcachedIn(pod, path...)}, "resources", "limits", "memory")
	quantity, _ := resource.ParseQuantity(text)
	return quantity.Value()
}

// memcachedIn returns the item for memcached's container in a list of a Pod.
func memcachedIn(pod *object, path ...string) map[string]any {
	list, _ := value(pod, path...).([]any)
	for _, item := range list {
		if fields, _ := item.(map[string]any); fields["name"] == "memcached" {
			return fields
		}
	}
	return nil
}

// hasNoRoom reports whether the Node of a running Pod can never have room for the memory that the spec requests. Then
// the operator replaces the Pod.
func (t *templates) hasNoRoom(cache string, now rendering) bool {
	insists := func(mc *cachev1.Memcached) bool { return resizes(mc) && !acts(mc) }
	return slices.ContainsFunc(now.from, insists) && slices.ContainsFunc(t.podsOf(cache), func(pod *object) bool {
		return slices.ContainsFunc(t.seen(now.process, pod.GetUID()), isInfeasible)
	})
}

func isInfeasible(pod *object) bool {
	conditions, _ := value(pod, "status", "conditions").([]any)
	return slices.ContainsFunc(conditions, func(item any) bool {
		condition, _ := item.(map[string]any)
		return condition["type"] == "PodResizePending" && condition["reason"] == "Infeasible"
	})
}
