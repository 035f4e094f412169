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
		Promise: "While running Pods get other memory, memcached never gets more for items than its container has and " +
			"keeps, and no container less than its memcached needs for that without clients.",
		New: overfull,
	}, {
		Name: "running Pods have the memory of the spec",
		Promise: "Once the faults are over, and a Memcached whose running Pods get other memory is Ready, memcached and " +
			"its container in each of them have it.",
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
			return fmt.Sprintf("memcached of Pod %s gets %d MiB, and its container may have less", after.GetName(),
				given/mebibyte)
		case limit < memoryOf(before, "spec", "containers") && limit < needed:
			return fmt.Sprintf("the container of Pod %s gets %d MiB, and its memcached has %d, which needs %d", after.GetName(),
				limit/mebibyte, given/mebibyte, needed/mebibyte)
		}
		return ""
	}
}

// neededFor is what the container of a Pod needs for so much memory of memcached without clients, as in docs/memory.md:
// the items and 1 %, the hash table, 71 MiB, each thread, and with slots the log.
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

// mayKnowOf reports whether the operator may have seen that the container of a Pod has so much memory.
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
		return fmt.Sprintf("has %d MiB for items, and the spec %d", given/mebibyte, wanted/mebibyte)
	case shall != has:
		return fmt.Sprintf("is to have a container of %d MiB, and has one of %d", shall/mebibyte, has/mebibyte)
	}
	return ""
}

// resizes reports whether running Pods get other memory.
func resizes(mc *cachev1.Memcached) bool {
	return wantsSlots(mc) && keepsPods(mc)
}

// keepsPods reports whether another memory alone replaces no Pod.
func keepsPods(mc *cachev1.Memcached) bool {
	return orEmpty(mc.Spec.Rollout).MemoryChange == cachev1.MemoryResize
}

// itemsOf is the memory for items that a spec requests, or that the operator chose instead, in bytes.
func itemsOf(mc *cachev1.Memcached) int64 {
	if acts(mc) {
		return chosenBy(mc)
	}
	if mc.Spec.Memory == nil {
		return 64 * mebibyte
	}
	return mc.Spec.Memory.Value() / mebibyte * mebibyte
}

// itemMemory is what memcached in a Pod has for items, in bytes: by the operator's instruction, or as it was started.
func itemMemory(pod *object) int64 {
	var instruction struct{ Memory int64 }
	if json.Unmarshal([]byte(pod.GetAnnotations()[handoff]), &instruction) == nil && instruction.Memory > 0 {
		return instruction.Memory
	}
	return argumentOf(pod, memoryLimit) * mebibyte
}

// argumentOf is the number of an argument of memcached in a Pod; 0 if it has none.
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

// memoryLimit is the option of memcached for it.
const memoryLimit = "--memory-limit="

// memoryOf is the memory limit of memcached's container, in bytes, in one of the lists of a Pod.
func memoryOf(pod *object, path ...string) int64 {
	text := text(&object{Object: memcachedIn(pod, path...)}, "resources", "limits", "memory")
	quantity, _ := resource.ParseQuantity(text)
	return quantity.Value()
}

// memcachedIn is what a list of a Pod has about memcached's container.
func memcachedIn(pod *object, path ...string) map[string]any {
	list, _ := value(pod, path...).([]any)
	for _, item := range list {
		if fields, _ := item.(map[string]any); fields["name"] == "memcached" {
			return fields
		}
	}
	return nil
}

// hasNoRoom reports whether a Node never has room for the memory that a spec requests for a running Pod: then it is
// replaced.
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
