package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

func TestASuspendedMemcachedIsLeftAlone(t *testing.T) {
	suspended, reported := mc("spec: {suspend: true}"), withConditions("suspend: true", condition("Suspended", "True", "Suspended"))
	deployment := owned("Deployment", "")
	rolling := owned("Deployment", "status: {replicas: 3, updatedReplicas: 1}")
	paused := strings.Replace(rolling, "uid: Deployment,", "uid: Deployment, managedFields: [{manager: memcached-operator-pause}],", 1)
	start := func(s *recorded) *recorded { return s.user(mc("")).operator(deployment).user(suspended) }
	ruleTest{
		rule: "suspended",
		keeps: map[string]func(*recorded){
			"a rollout is paused first": func(s *recorded) { start(s).pauses(deployment).reports(reported) },
			"a rollout in progress is paused first": func(s *recorded) {
				s.user(mc("")).operator(rolling).user(suspended).restart().pauses(paused).reports(reported)
			},
			"a rollout that starts later": func(s *recorded) {
				start(s).reports(reported).user(rolling).restart().reports(reported)
			},
			"before the operator reads it": func(s *recorded) { start(s).operator(deployment) },
			"it ends":                      func(s *recorded) { start(s).reports(reported).user(mc("")).operator(deployment) },
		},
		breaks: map[string]func(*recorded){
			"a rollout in progress is not paused": func(s *recorded) {
				s.user(mc("")).operator(rolling).user(suspended).restart().reports(reported)
			},
			"a write after a restart":      func(s *recorded) { start(s).restart().operator(deployment) },
			"a write after the report":     func(s *recorded) { start(s).reports(reported).user(reported).operator(deployment) },
			"a pause after the report":     func(s *recorded) { start(s).reports(reported).restart().pauses(deployment) },
			"an object that did not exist": func(s *recorded) { start(s).restart().operator(owned("Service", "")) },
		},
	}.run(t)
}

func TestTheOperatorIsSilentAtRest(t *testing.T) {
	service := owned("Service", "")
	ready := withConditions("", condition("Ready", "True", "AllPodsReady"))
	conflict := withConditions("", condition("Ready", "False", "OwnershipConflict"))
	pending := withConditions("", condition("Ready", "True", "AllPodsReady"), condition("UpdatePending", "True", "UpdateQueued"))
	invalid := withConditions("", condition("Ready", "False", "InvalidSpec"))
	expired := withConditions("", condition("Ready", "False", "CertificateExpired"))
	start := func(s *recorded, o string) *recorded { return s.user(o).operator(service).step(history.PhaseAtRest) }
	other := func(reason string) string {
		return strings.NewReplacer("name: a, uid: m", "name: b, uid: b").Replace(
			withConditions("", condition("Ready", "False", reason)))
	}
	ruleTest{
		rule: "no requests at rest",
		keeps: map[string]func(*recorded){
			"nothing":                func(s *recorded) { start(s, ready).step(history.PhaseRepaired).request("get", "services", 200) },
			"a watch":                func(s *recorded) { start(s, ready).request("watch", "services", 200) },
			"something else changed": func(s *recorded) { start(s, ready).user(service).operator(service) },
			"another client reads":   func(s *recorded) { start(s, ready).step("another step") },
			"a Pod changed": func(s *recorded) {
				start(s, ready).by("kube", pod("p", "h", "True")).operator(service)
			},
			"what may be of any cache changed": func(s *recorded) {
				start(s, ready).user("{kind: Secret, metadata: {name: tls, uid: s}}").operator(service)
			},
			"a certificate expired": func(s *recorded) {
				start(s, ready).reports(expired).request("create", "events", 201)
			},
			"the API server refused the spec, and no longer does": func(s *recorded) {
				s.user(invalid).requestOf("patch", "services", "a", 422).step(history.PhaseAtRest).operator(service)
			},
			"the spec is invalid, and the faults were not followed by a restart": func(s *recorded) {
				s.user(invalid).step("a step").step(history.PhaseAtRest).operator(service)
			},
			"a read for another cache, which is not ready": func(s *recorded) {
				start(s, ready).user(other("ApplyFailed")).step(history.PhaseReady).requestOf("get", "services", "b", 404)
			},
			"it waits in the queue, and another cache changed": func(s *recorded) {
				start(s, pending).user(other("RollingOut")).operator(service)
			},
			"it tries again what failed": func(s *recorded) { start(s, conflict).request("patch", "services", 409) },
		},
		breaks: map[string]func(*recorded){
			"a read":   func(s *recorded) { start(s, ready).request("get", "services", 200) },
			"an event": func(s *recorded) { start(s, ready).request("create", "events", 201) },
			"a write":  func(s *recorded) { start(s, ready).operator(service) },
			"a read after the repair": func(s *recorded) {
				start(s, ready).step(history.PhaseRepaired).step(history.PhaseReady).request("get", "services", 200)
			},
			"a write although only another cache is in conflict": func(s *recorded) {
				start(s, ready).user(other("OwnershipConflict")).step(history.PhaseReady).requestOf("get", "services", "a", 200)
			},
			"a write although only another cache changed": func(s *recorded) {
				start(s, ready).user(other("RollingOut")).operator(service)
			},
			"a write with an invalid spec": func(s *recorded) {
				s.step("a step").restart().user(invalid).operator(service).step(history.PhaseAtRest).operator(service)
			},
			"a second write after a certificate expired": func(s *recorded) { start(s, expired).reports(expired) },
			"a write of a status that is not Ready": func(s *recorded) {
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
		keeps: map[string]func(*recorded){
			"three writes, and one after a pause": func(s *recorded) {
				s.user(mc("")).operator(service)
				for range 3 {
					s.user(other).operator(service)
				}
			},
			"another state between writes, so that a conflict begins again": func(s *recorded) {
				s.operator(service, service, service, other, service, service, service)
			},
			"statuses of a busy cache": func(s *recorded) {
				for i := range mostAttempts + 5 {
					s.atTheSameTime().reports(mc(fmt.Sprintf("status: {endpoint: '%d'}", i)))
				}
			},
			"other writes": func(s *recorded) { s.operator(service, other, service, other, service) },
			"a failure from time to time": func(s *recorded) {
				for range 30 {
					s.request("patch", "services", 500)
				}
			},
		},
		breaks: map[string]func(*recorded){
			"a conflict without a pause": func(s *recorded) { s.operator(service, service, service, service, service) },
			"a pause between writes of the same": func(s *recorded) {
				s.operator(service, service, service).pauses(service).operator(service, service)
			},
			"statuses that differ in a message": func(s *recorded) {
				for i := range mostStatuses + 1 {
					s.atTheSameTime().reports(mc(fmt.Sprintf("status: {endpoint: '%d'}", i)))
				}
			},
			"reads": func(s *recorded) {
				for range mostReads + 1 {
					s.atTheSameTime().requestOf("get", "secrets", "tls", 404)
				}
			},
			"the same request again and again": func(s *recorded) {
				for range mostAttempts + 1 {
					s.atTheSameTime().request("patch", "services", 500)
				}
			},
		},
	}.run(t)
}
