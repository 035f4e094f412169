package model

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

func autoscalingRules() []Rule {
	return []Rule{{
		Name: "the chosen memory stays within its bounds",
		Promise: "The memory that the operator chooses from the use of a cache is between autoscaling.memory.min and " +
			"autoscaling.memory.max of a spec that is in force. This holds for the memory in the status, and for the " +
			"memory that memcached in each Pod gets.",
		New: outOfBounds,
	}, {
		Name: "the memory follows the use",
		Promise: "Once the faults are over, and a Memcached with the mode Act is Ready, its Pods have the memory in the " +
			"status. This memory is at least the recommended one, unless a Node has refused the resize.",
		New: doesNotFollow,
	}, {
		Name:    "events of a chosen memory agree with the status",
		Promise: "An event MemoryChosen names a memory that the status of the Memcached had before.",
		New:     announcesOther,
	}}
}

func outOfBounds(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		if o, _ := p.writesStatus(e); o != nil {
			return p.choosesOutOfBounds(o)
		}
		if by := p.byOperator(e); by != nil && e.State.Object.GetKind() == "Pod" {
			return p.givesOutOfBounds(e.State.Object, by)
		}
		return ""
	}
}

// choosesOutOfBounds returns a violation if the chosen memory in the status has changed, and is out of the bounds.
func (p *past) choosesOutOfBounds(o *object) string {
	mc, before := p.memcached(o), p.before(o)
	if chosen := chosenBy(mc); !acts(mc) || chosen == 0 || isWithin(chosen, mc) ||
		before != nil && chosenBy(p.memcached(before)) == chosen {
		return ""
	}
	return fmt.Sprintf("the memory of %s is to be %d MiB, out of its bounds", o.GetName(), chosenBy(mc)/mebibyte)
}

// givesOutOfBounds returns a violation if memcached in a Pod gets more memory, and more than the maximum. This is
// allowed if another Pod already has as much, from an earlier spec.
func (p *past) givesOutOfBounds(pod *object, by *audit.Request) string {
	before, given := p.before(pod), itemMemory(pod)
	if before == nil || given <= itemMemory(before) {
		return ""
	}
	cache := pod.GetLabels()["memcached_cr"]
	specs := p.specsNamed(cache, history.ProcessOf(by))
	mayGet := func(mc *cachev1.Memcached) bool {
		return !acts(mc) || given <= inMebibytes(mc.Spec.Autoscaling.Memory.Max.Value())
	}
	hasIt := func(other *object) bool { return other.GetUID() != pod.GetUID() && itemMemory(other) >= given }
	if len(specs) == 0 || slices.ContainsFunc(specs, mayGet) || slices.ContainsFunc(p.podsOf(cache), hasIt) {
		return ""
	}
	return fmt.Sprintf("memcached of Pod %s gets %d MiB, more than the maximum", pod.GetName(), given/mebibyte)
}

func doesNotFollow(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		if e.Step != history.PhaseAtRest {
			return ""
		}
		for _, mc := range p.upToDate() {
			if wrong := p.hasNotFollowed(mc, e); wrong != "" {
				return mc.Name + " is Ready and follows its use: " + wrong
			}
		}
		return ""
	}
}

// slowest is the longest cooldown, in seconds, with which a run is long enough for all steps of the memory.
const slowest = 60

func (p *past) hasNotFollowed(mc *cachev1.Memcached, e history.Entry) string {
	if !acts(mc) || mc.Spec.Suspend || sizeOf(mc) == 0 || !p.isQuiet(mc, e) {
		return ""
	}
	found := mc.Status.Autoscaling
	if found == nil || found.Memory == nil || found.Memory.Current == nil {
		return "its status has no memory"
	}
	if chosen := chosenBy(mc); !isWithin(chosen, mc) {
		return fmt.Sprintf("%d MiB are out of its bounds", chosen/mebibyte)
	}
	memory, recommended := found.Memory, found.Memory.Recommended
	if memory.Reason == cachev1.MemoryTooSmall && recommended != nil && recommended.Cmp(*memory.Current) > 0 &&
		memory.Refused == nil && mc.Spec.Autoscaling.Memory.CooldownSeconds <= slowest {
		return fmt.Sprintf("the status recommends %s, and the cache has %s: %s", recommended, memory.Current, memory.Message)
	}
	return p.wrongMemory(mc)
}

func announcesOther(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		q := requestOf(e)
		if q == nil || q.User.Username != p.operator || q.ObjectRef.Resource != "events" || q.Verb != "create" {
			return ""
		}
		body := bodyOf(q)
		words := strings.Fields(text(body, "note"))
		to := slices.Index(words, "to")
		if text(body, "reason") != "MemoryChosen" || to < 0 || to+1 == len(words) {
			return ""
		}
		named, _ := resource.ParseQuantity(strings.TrimSuffix(words[to+1], "."))
		had := func(m moment) bool { return chosenBy(p.memcached(m.object)) == named.Value() }
		if slices.ContainsFunc(p.objects[types.UID(text(body, "regarding", "uid"))], had) {
			return ""
		}
		return fmt.Sprintf("the status of %s never had the memory of the event: %s", text(body, "regarding", "name"),
			text(body, "note"))
	}
}

// acts reports whether the operator chooses the memory of a cache.
func acts(mc *cachev1.Memcached) bool {
	memory := orEmpty(mc.Spec.Autoscaling).Memory
	return memory != nil && memory.Mode == cachev1.AutoscalingAct
}

// chosenBy returns the memory that the operator chose according to the status, in bytes, or 0 if the status has none.
func chosenBy(mc *cachev1.Memcached) int64 {
	if found := orEmpty(mc.Status.Autoscaling).Memory; found != nil && found.Current != nil {
		return found.Current.Value()
	}
	return 0
}

func isWithin(bytes int64, mc *cachev1.Memcached) bool {
	memory, least := mc.Spec.Autoscaling.Memory, int64(16*mebibyte)
	if memory.Min != nil {
		least = inMebibytes(memory.Min.Value())
	}
	return least <= bytes && bytes <= inMebibytes(memory.Max.Value())
}

// inMebibytes rounds a number of bytes down to whole mebibytes.
func inMebibytes(bytes int64) int64 { return bytes / mebibyte * mebibyte }
