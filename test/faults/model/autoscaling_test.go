package model

import (
	"fmt"
	"testing"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

// acting is a Memcached whose memory follows its use.
func acting(most string) string {
	return fmt.Sprintf("spec: {size: 1, slots: {}, rollout: {memoryChange: Resize}, "+
		"autoscaling: {memory: {mode: Act, min: 32Mi, max: %s, cooldownSeconds: 60}}}", most)
}

// found is the same Memcached, with a status that says what the operator found and chose.
func found(most, current, more string) string {
	return fmt.Sprintf("%s, status: {observedGeneration: 1, conditions: [%s, %s], "+
		"autoscaling: {memory: {reason: TooSmall, current: %s%s}}}", acting(most),
		condition("Ready", "True", "AllPodsReady"), condition("UpdatePending", "False", "UpToDate"), current, more)
}

func TestTheChosenMemoryStaysWithinItsBounds(t *testing.T) {
	start := func(s *recorded) *recorded {
		return s.user(mc(acting("256Mi")), set).by("kwok", sizedPod(64, 500, 500))
	}
	ruleTest{
		rule: "the chosen memory stays within its bounds",
		keeps: map[string]func(*recorded){
			"it is the minimum":       func(s *recorded) { start(s).reports(mc(found("256Mi", "32Mi", ""))) },
			"it is the maximum":       func(s *recorded) { start(s).reports(mc(found("256Mi", "256Mi", ""))) },
			"Pods get the maximum":    func(s *recorded) { start(s).operator(sizedPod(256, 500, 500)) },
			"Pods have more and keep": func(s *recorded) { start(s).by("user", sizedPod(300, 500, 500)).operator(sizedPod(300, 600, 500)) },
			"another mode": func(s *recorded) {
				s.user(mc("spec: {slots: {}}"), set).by("kwok", sizedPod(64, 500, 500)).operator(sizedPod(300, 500, 500))
			},
			"a status keeps what it had when the bounds change": func(s *recorded) {
				start(s).reports(mc(found("256Mi", "256Mi", ""))).user(mc(found("128Mi", "256Mi", "")))
				s.reports(mc(found("128Mi", "256Mi", ", message: the spec is invalid")))
			},
		},
		breaks: map[string]func(*recorded){
			"less than the minimum":                    func(s *recorded) { start(s).reports(mc(found("256Mi", "31Mi", ""))) },
			"more than the maximum":                    func(s *recorded) { start(s).reports(mc(found("256Mi", "257Mi", ""))) },
			"a Pod gets more than that":                func(s *recorded) { start(s).operator(sizedPod(257, 500, 500)) },
			"it is more than the maximum in mebibytes": func(s *recorded) { start(s).reports(mc(found("257000Ki", "251Mi", ""))) },
		},
	}.run(t)
}

func TestTheMemoryFollowsTheUse(t *testing.T) {
	rests := func(current, more, pod string) func(*recorded) {
		return func(s *recorded) {
			s.user(mc(acting("256Mi")), set).by("kwok", pod).reports(mc(found("256Mi", current, more)))
			s.step("a step").step(history.PhaseFaultsOver).step(history.PhaseAtRest)
		}
	}
	ruleTest{
		rule: "the memory follows the use",
		keeps: map[string]func(*recorded){
			"what is recommended":   rests("128Mi", ", recommended: 128Mi", sizedPod(128, 220, 220)),
			"more than that":        rests("128Mi", ", recommended: 64Mi", sizedPod(128, 220, 220)),
			"less, which a Node is": rests("128Mi", ", recommended: 256Mi, refused: 256Mi", sizedPod(128, 220, 220)),
			"nothing is known":      rests("128Mi", "", sizedPod(128, 220, 220)),
		},
		breaks: map[string]func(*recorded){
			"less than is recommended":    rests("128Mi", ", recommended: 256Mi", sizedPod(128, 220, 220)),
			"the Pods have another":       rests("128Mi", ", recommended: 128Mi", sizedPod(64, 220, 220)),
			"the container has not yet":   rests("128Mi", ", recommended: 128Mi", sizedPod(128, 220, 150)),
			"the status is out of bounds": rests("300Mi", ", recommended: 256Mi", sizedPod(300, 500, 500)),
		},
	}.run(t)
}

func TestEventsOfAChosenMemoryAgreeWithTheStatus(t *testing.T) {
	announced := func(to string) func(*recorded) {
		return func(s *recorded) {
			s.user(mc(acting("256Mi")), set).reports(mc(found("256Mi", "128Mi", "")))
			s.request("create", "events", 201)
			s.Entries[len(s.Entries)-1].Request.Body = fmt.Appendf(nil, `{"reason": "MemoryChosen", `+
				`"note": "The memory of each Pod changes from 64Mi to %s. It is due", "regarding": {"name": "a", "uid": "m"}}`, to)
		}
	}
	ruleTest{
		rule:   "events of a chosen memory agree with the status",
		keeps:  map[string]func(*recorded){"the status has it": announced("128Mi")},
		breaks: map[string]func(*recorded){"the status never had it": announced("256Mi")},
	}.run(t)
}
