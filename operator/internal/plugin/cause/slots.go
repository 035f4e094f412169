package cause

// Explains the slots that have none of the keys of the Pod that held them before.

import (
	"fmt"
	"slices"
	"strings"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/overview"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

// slotFailed is the event about a slot whose handoff failed.
const slotFailed = "SlotStartedCold"

// meanings has the meaning of each reason of a slot, in the same words as docs/memcached/status.md.
var meanings = map[string]string{
	"NoPod":                    "no Pod holds the slot",
	"PodLost":                  "the Pod that held the slot ended before all keys were copied",
	"HandoffTimedOut":          "the copy was not complete within the timeout, not even without the coldest keys",
	"HandoffFailed":            "the copy failed, and the agent gave no reason",
	"InstructionLost":          "another client edited the instruction in the Pod, or the EndpointSlice of the slot",
	"HandoffNever":             "the spec forbids handoffs",
	"LoginRefused":             "memcached accepts no user that is mounted here",
	"ServerCertificateUnknown": "memcached presents a certificate of another Secret or CA",
	"ClientCertificateRefused": "memcached requires a client certificate that its CAs signed",
	"OldUnreachable":           "no connection to the old memcached, or it stopped answering",
	"NewUnreachable":           "no connection to the new memcached, or it stopped answering",
	"OldTooOld":                "the old memcached cannot report deletions: older than 1.6.20",
	"NewTooOld":                "the new memcached cannot report deletions: older than 1.6.20",
	"OldEnded":                 "the old memcached ended before everything was copied, or without an announcement",
	"NewEnded":                 "the new memcached ended",
	"DumpForbidden":            "memcached runs with -X, -W or without the LRU crawler",
	"FlushForbidden":           "memcached runs with -F, so that outdated items could not be removed",
	"CrawlerBusy":              "the LRU crawler of the old memcached was busy all the time",
	"NoTemporaryFile":          "the list of the keys could not be written: the folder for it is full, or missing",
	"LogLinesLost":             "memcached dropped lines of its log, so some changes are unknown",
	"TooManyChanges":           "more keys change than the copy can follow",
	"Flushed":                  "a client emptied a memcached while it was copied",
	"AgentRestarted":           "the agent restarted during the drain, so it does not know what changed",
	"SameServer":               "a memcached is both a source and a target, so the copy would remove its keys",
	"OtherAgent":               "another agent copies keys to, or from, the new memcached",
	"OtherHash":                "clients look for keys at other servers than the hash says",
	"Internal":                 "memcached gave an answer that it should never give",
}

// slotChains returns a chain for each slot that is Cold.
func slotChains(e Evidence) []Chain {
	var chains []Chain
	for i := range e.Memcached.Status.Slots {
		slot := &e.Memcached.Status.Slots[i]
		if slot.State != cachev1.SlotCold {
			continue
		}
		chain := Chain{Condition: "Slot " + slot.Name, Status: string(slot.State), Reason: slot.Reason}
		if slot.Since != nil {
			chain.Since = new(slot.Since.UTC())
		}
		says := meanings[slot.Reason]
		if says == "" {
			says = "it has none of the keys of its predecessor"
		}
		chain.Links = []Link{{"Memcached " + e.Memcached.Name, says}}
		if pod := podOf(e, slot); pod != "" {
			chain.Links = append(chain.Links, Link{"Pod " + slot.Pod, pod})
		}
		if event := failure(e, slot.Name); event != "" {
			chain.Links = append(chain.Links, Link{"Event " + slotFailed, event})
		}
		chains = append(chains, chain)
	}
	return chains
}

// podOf returns the state of the Pod of a slot; empty if there is none.
func podOf(e Evidence, slot *cachev1.SlotStatus) string {
	for i := range e.Pods {
		if e.Pods[i].Name == slot.Pod {
			return fmt.Sprintf("%s; it started empty, or was emptied", overview.StatusOf(&e.Pods[i]))
		}
	}
	return ""
}

// failure returns the message of the last event about a failed handoff of a slot.
func failure(e Evidence, slot string) string {
	for _, event := range slices.Backward(e.Events) {
		if event.Reason == slotFailed && strings.Contains(event.Message, "Slot "+slot+":") {
			return event.Message
		}
	}
	return ""
}

// slotAdvice returns commands that show why a handoff failed. It returns none if the spec forbids handoffs, or if the
// Pod ended.
func slotAdvice(e Evidence) []Advice {
	var found []Advice
	for i := range e.Memcached.Status.Slots {
		slot := &e.Memcached.Status.Slots[i]
		if slot.State != cachev1.SlotCold || podOf(e, slot) == "" || slot.Reason == slots.ReasonNever {
			continue
		}
		logs := fmt.Sprintf("kubectl -n %s logs %s -c %s", e.Memcached.Namespace, slot.Pod, names.Agent)
		found = append(found, Advice{logs, "see why its handoff failed"})
	}
	return found
}
