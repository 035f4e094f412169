package model

import (
	"testing"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

func TestASuspendedMemcachedIsLeftAlone(t *testing.T) {
	wish, reported := mc("spec: {suspend: true}"), withConditions("suspend: true", condition("Suspended", "True", "Suspended"))
	deployment := owned("Deployment", "")
	start := func(s *tale) *tale { return s.user(mc("")).operator(deployment).user(wish) }
	ruleTest{
		rule: "suspended",
		keeps: map[string]func(*tale){
			"a rollout is paused first":    func(s *tale) { start(s).pauses(deployment).reports(reported) },
			"before the operator reads it": func(s *tale) { start(s).operator(deployment) },
			"it ends":                      func(s *tale) { start(s).reports(reported).user(mc("")).operator(deployment) },
		},
		breaks: map[string]func(*tale){
			"a write after a restart":      func(s *tale) { start(s).restart().operator(deployment) },
			"a write after the report":     func(s *tale) { start(s).reports(reported).user(reported).operator(deployment) },
			"a pause after the report":     func(s *tale) { start(s).reports(reported).restart().pauses(deployment) },
			"an object that did not exist": func(s *tale) { start(s).restart().operator(owned("Service", "")) },
		},
	}.run(t)
}

func TestTheOperatorIsSilentAtRest(t *testing.T) {
	service := owned("Service", "")
	ready := withConditions("", condition("Ready", "True", "AllPodsReady"))
	conflict := withConditions("", condition("Ready", "False", "OwnershipConflict"))
	start := func(s *tale, o string) *tale { return s.user(o).operator(service).step(history.PhaseAtRest) }
	ruleTest{
		rule: "no requests at rest",
		keeps: map[string]func(*tale){
			"nothing":                    func(s *tale) { start(s, ready).step(history.PhaseRepaired).request("get", "services", 200) },
			"a watch":                    func(s *tale) { start(s, ready).request("watch", "services", 200) },
			"something else changed":     func(s *tale) { start(s, ready).user(service).operator(service) },
			"another client reads":       func(s *tale) { start(s, ready).step("another step") },
			"it tries again what failed": func(s *tale) { start(s, conflict).request("patch", "services", 409) },
		},
		breaks: map[string]func(*tale){
			"a read":   func(s *tale) { start(s, ready).request("get", "services", 200) },
			"an event": func(s *tale) { start(s, ready).request("create", "events", 201) },
			"a write":  func(s *tale) { start(s, ready).operator(service) },
			"a write of a status that is not Ready": func(s *tale) {
				missing := withConditions("", condition("Ready", "False", "SecretNotFound"))
				start(s, missing).reports(missing)
			},
		},
	}.run(t)
}

func TestTheOperatorBacksOff(t *testing.T) {
	service, other := owned("Service", "spec: {clusterIP: None}"), owned("Service", "spec: {clusterIP: 10.0.0.1}")
	ruleTest{
		rule: "no hot loop",
		keeps: map[string]func(*tale){
			"three writes, and one after a pause": func(s *tale) {
				s.user(mc("")).operator(service)
				for range 3 {
					s.user(other).operator(service)
				}
			},
			"other writes": func(s *tale) { s.operator(service, other, service, other, service) },
			"a failure from time to time": func(s *tale) {
				for range 30 {
					s.request("patch", "services", 500)
				}
			},
		},
		breaks: map[string]func(*tale){
			"a conflict without a pause": func(s *tale) { s.operator(service, service, service, service, service) },
			"the same request again and again": func(s *tale) {
				for range mostAttempts + 1 {
					s.atOnce().request("patch", "services", 500)
				}
			},
		},
	}.run(t)
}
