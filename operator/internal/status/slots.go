package status

// Reports which Pod has which slot, and which slots changed since the last status.

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

// setSlots reports which Pod has which slot. How many keys are copied is in metrics and events, because it changes all
// the time.
func setSlots(status *cachev1.MemcachedStatus, in Input) {
	decided := in.Plan.Slots
	switch {
	case in.Invalid != nil && in.Invalid.Kept != nil:
		decided = in.Invalid.Kept.Slots
	case !in.isPlanned():
		return
	}
	status.Slots = nil
	if decided == nil {
		return
	}
	for _, slot := range decided.Slots {
		reported := cachev1.SlotStatus{
			Name: slot.Name, Address: slot.Address, Pod: slot.Pod, State: cachev1.SlotState(slot.State),
			Reason: slot.Reason,
		}
		if !slot.Since.IsZero() {
			reported.Since = &metav1.Time{Time: slot.Since}
		}
		status.Slots = append(status.Slots, reported)
	}
}

// handsOver reports whether slots are still to be handed over, or a Pod has just taken a slot and the Deployment does
// not count it as ready yet. Such a Pod has not failed.
func handsOver(in Input) bool {
	return in.Plan.Slots != nil && (in.Plan.Slots.Progress != "" || in.Plan.Slots.Moving || tookAllSlots(in))
}

// tookAllSlots reports whether slots were handed over before, and by now every Pod is ready. The Deployment may not
// count all of them yet.
func tookAllSlots(in Input) bool {
	before := meta.FindStatusCondition(in.Memcached.Status.Conditions, cachev1.ConditionReady)
	if before == nil || before.Reason != cachev1.ReasonHandingOver {
		return false
	}
	ready := int32(0)
	for _, pod := range in.Snapshot.Pods {
		if pod.Ready {
			ready++
		}
	}
	return ready >= desiredSize(in)
}

// podsAreResized finds Pods that are still to be resized.
func podsAreResized(in Input) (verdict, bool) {
	if in.Plan.Slots == nil || in.Plan.Slots.Resizing == "" {
		return verdict{}, false
	}
	return verdict{reconciling, cachev1.ReasonResizing, in.Plan.Slots.Resizing}, true
}

// handoffProgress reports how many slots are still to be handed over, while Pods are replaced, and for how long Pods
// that terminate keep their slots.
func handoffProgress(in Input, v verdict) string {
	switch {
	case in.Plan.Slots == nil || v.state != reconciling:
		return ""
	case in.Plan.Suspended:
		return waiting(in.Plan.Slots.Slots)
	case in.Plan.Slots.Progress == "":
		return ""
	}
	return "; " + in.Plan.Slots.Progress + terminating(in.Plan.Slots.Slots)
}

// terminating reports until when Pods that terminate keep their slots.
func terminating(decided []slots.Status) string {
	var texts []string
	for _, slot := range decided {
		switch {
		case slot.Ends.IsZero():
		case slot.State == instruction.StateCopying:
			texts = append(texts, fmt.Sprintf("slot %s: its Pod terminates once its keys are copied, at %s at the latest",
				slot.Name, slot.Ends.UTC().Format(time.RFC3339)))
		default:
			texts = append(texts, fmt.Sprintf("slot %s: its Pod terminates, "+
				"but first waits, until %s at the latest, for a new Pod that copies its keys",
				slot.Name, slot.Ends.UTC().Format(time.RFC3339)))
		}
	}
	return firstFew(texts, "%d more Pods with slots terminate")
}

// waiting reports the slots that would move to another Pod if the Memcached were not suspended.
func waiting(decided []slots.Status) string {
	var texts []string
	for _, slot := range decided {
		switch {
		case slot.Pod == "":
			texts = append(texts, fmt.Sprintf("slot %s: no Pod takes it while spec.suspend is true", slot.Name))
		case !slot.Ends.IsZero():
			texts = append(texts, fmt.Sprintf("slot %s: its Pod terminates, and no other Pod takes the slot while "+
				"spec.suspend is true",
				slot.Name))
		}
	}
	return firstFew(texts, "%d more slots wait")
}

// firstFew joins only the first few texts, because a Node that is removed may have many Pods.
func firstFew(texts []string, others string) string {
	if more := len(texts) - mostNamed; more > 0 {
		texts = append(texts[:mostNamed], fmt.Sprintf(others, more))
	}
	return strings.Join(append([]string{""}, texts...), "; ")
}

// mostNamed is how many slots a message names.
const mostNamed = 3

// HandedOver is a slot that moved from one Pod to another with its keys.
type HandedOver struct {
	Name     string
	From, To string

	// Took is the time from the instruction to copy the keys until the other Pod had the slot.
	Took time.Duration
}

// Kept returns the slots that moved to another Pod with their keys since the last status.
func Kept(before, now cachev1.MemcachedStatus, decided []slots.Status) []HandedOver {
	var kept []HandedOver
	for _, slot := range decided {
		was, is := slotNamed(before, slot.Name), slotNamed(now, slot.Name)
		if is.State == cachev1.SlotServing && is.Pod == slot.Pod && is.Pod != "" && was.Pod != "" && was.Pod != is.Pod {
			kept = append(kept, HandedOver{Name: slot.Name, From: was.Pod, To: is.Pod, Took: slot.Took})
		}
	}
	return kept
}

// Removed returns how many slots fewer a cache has than in the last status; 0 for a cache that has no slots now.
func Removed(before, now cachev1.MemcachedStatus) int {
	if len(now.Slots) == 0 {
		return 0
	}
	return max(0, len(before.Slots)-len(now.Slots))
}

// StartedCold returns the slots whose Pod started empty since the last status, because of a failure.
func StartedCold(before, now cachev1.MemcachedStatus) []cachev1.SlotStatus {
	var cold []cachev1.SlotStatus
	for _, slot := range now.Slots {
		expected := slot.Reason == "" || slot.Reason == slots.ReasonNever
		if slot.State == cachev1.SlotCold && slot.Pod != "" && !expected && !isKnown(slotNamed(before, slot.Name), slot) {
			cold = append(cold, slot)
		}
	}
	return cold
}

// isKnown reports whether the last status already shows that this Pod started empty. The last status may have another
// state of the slot: for example, if the Pod's keys were then being copied to another Pod, and the copy was given up
// since.
func isKnown(was, slot cachev1.SlotStatus) bool {
	same := was.State == slot.State && was.Reason == slot.Reason
	return was.Pod == slot.Pod && (same || !began(slot).After(began(was)))
}

func began(slot cachev1.SlotStatus) time.Time {
	if slot.Since == nil {
		return time.Time{}
	}
	return slot.Since.Time
}

// slotNamed returns the status of the slot with this name, or a zero status.
func slotNamed(status cachev1.MemcachedStatus, name string) cachev1.SlotStatus {
	for _, slot := range status.Slots {
		if slot.Name == name {
			return slot
		}
	}
	return cachev1.SlotStatus{}
}
