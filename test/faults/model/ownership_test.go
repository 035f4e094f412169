package model

import (
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

const (
	applied  = `managedFields: [{manager: memcached-operator, operation: Apply, fieldsV1: {"f:metadata": {"f:annotations": {"f:cache.example.com/applied-hash": {}}}}}]`
	adoptBy  = "annotations: {cache.example.com/adopt-by: a}"
	otherOne = "{kind: Job, name: j, uid: j}"
)

func TestTheOperatorWritesOnlyWhatItOwns(t *testing.T) {
	takenOver := func(s *recorded) *recorded {
		return s.user(mc("")).operator(owned("Service", "")).user(loose("Service", ""))
	}
	ruleTest{
		rule: "ownership",
		keeps: map[string]func(*recorded){
			"it creates":             func(s *recorded) { s.user(mc("")).operator(owned("Service", "")) },
			"it updates what is its": func(s *recorded) { s.user(mc("")).operator(owned("Service", ""), owned("Service", "")) },
			"it adopts what allows that": func(s *recorded) {
				s.user(mc(""), loose("Service", adoptBy)).operator(owned("Service", ""))
			},
			"it takes back what it applied": func(s *recorded) {
				s.user(mc(""), loose("Service", applied)).operator(owned("Service", ""))
			},
			"the owner changed while something held up the operator": func(s *recorded) {
				takenOver(s).delay(time.Minute).operator(owned("Service", ""))
			},
			"the owner changes after the operator has read the object": func(s *recorded) {
				s.user(mc("")).operator(owned("Service", "")).user(loose("Service", "")).operator(owned("Service", ""))
			},
		},
		breaks: map[string]func(*recorded){
			"an object without an owner": func(s *recorded) {
				s.user(mc(""), loose("Service", "")).operator(owned("Service", ""))
			},
			"an object that another Memcached may adopt": func(s *recorded) {
				s.user(mc(""), loose("Service", "annotations: {cache.example.com/adopt-by: b}")).operator(owned("Service", ""))
			},
			"an object of another owner": func(s *recorded) {
				s.user(mc(""), loose("Service", adoptBy+", ownerReferences: ["+otherOne+"]")).operator(owned("Service", ""))
			},
			"an object that lost its owner before the operator started": func(s *recorded) {
				s.user(mc("")).operator(owned("Service", "")).user(loose("Service", "")).restart().operator(owned("Service", ""))
			},
			"an object that lost its owner a while ago": func(s *recorded) {
				takenOver(s).step("a while")
				s.now = s.now.Add(2 * lag)
				s.step("a while").operator(owned("Service", ""))
			},
			"an object that lost its owner before all was at rest": func(s *recorded) {
				takenOver(s).step(history.PhaseFaultsOver).step(history.PhaseAtRest).operator(owned("Service", ""))
			},
			"a deletion of what another client took over": func(s *recorded) {
				s.user(mc("")).operator(owned("NetworkPolicy", "")).user(loose("NetworkPolicy", ""))
				s.deletes(operatorUser, loose("NetworkPolicy", ""))
			},
			"a deletion": func(s *recorded) {
				s.user(mc(""), loose("NetworkPolicy", "")).deletes(operatorUser, loose("NetworkPolicy", ""))
			},
		},
	}.run(t)
}

func TestAManagedObjectHasOneOwner(t *testing.T) {
	two := "ownerReferences: [{kind: Memcached, name: a, uid: m, controller: true}, {kind: Memcached, name: a, uid: o}]"
	ruleTest{
		rule: "one owner",
		keeps: map[string]func(*recorded){
			"one": func(s *recorded) { s.user(mc("")).operator(owned("Service", "")) },
			"another client adds one": func(s *recorded) {
				s.user(mc("")).operator(owned("Service", "")).user(loose("Service", two))
			},
			"the Memcached was deleted after the operator had read it": func(s *recorded) {
				s.user(mc("")).deletes("user", mc("")).operator(owned("Service", ""))
			},
		},
		breaks: map[string]func(*recorded){
			"none":                       func(s *recorded) { s.user(mc("")).operator(loose("Service", "")) },
			"two":                        func(s *recorded) { s.user(mc("")).operator(loose("Service", two)) },
			"a Memcached that never was": func(s *recorded) { s.user(mc("")).operator(ownedBy("other", "Service", "")) },
			"a Memcached that is being deleted": func(s *recorded) {
				s.user("{kind: Memcached, metadata: {name: a, uid: m, deletionTimestamp: '2026-01-01T00:00:00Z'}}")
				s.operator(owned("Service", ""))
			},
			"a Memcached that was deleted before the operator started": func(s *recorded) {
				s.user(mc("")).deletes("user", mc("")).restart().operator(owned("Service", ""))
			},
		},
	}.run(t)
}

func TestTheOperatorWritesNothingBesides(t *testing.T) {
	ruleTest{
		rule: "rights",
		keeps: map[string]func(*recorded){
			"reads":      func(s *recorded) { s.request("list", "pods", 200).request("get", "secrets", 200) },
			"a status":   func(s *recorded) { s.user(mc("")).reports(mc("")) },
			"events":     func(s *recorded) { s.request("create", "events", 201) },
			"a question": func(s *recorded) { s.request("create", "selfsubjectaccessreviews", 201) },
			"the user":   func(s *recorded) { s.user(mc("")) },
		},
		breaks: map[string]func(*recorded){
			"a spec":              func(s *recorded) { s.user(mc("")).operator(mc("spec: {size: 3}")) },
			"a deletion of a Pod": func(s *recorded) { s.request("delete", "pods", 403) },
			"a Service in another namespace": func(s *recorded) {
				s.request("patch", "services", 403)
				s.Entries[len(s.Entries)-1].Request.ObjectRef.Namespace = "other"
			},
			"a Secret": func(s *recorded) { s.request("update", "secrets", 409) },
		},
	}.run(t)
}
