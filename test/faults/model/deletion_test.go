package model

import (
	"testing"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

func TestTheOperatorDeletesOnlyWhatTheSpecDoesNotRequest(t *testing.T) {
	one, two := mc("spec: {size: 1}"), mc("spec: {size: 2}")
	restores := mc("spec: {size: 1, slots: {}, bootstrap: {from: {snapshot: {name: nightly, url: 's3://a'}}}}")
	closed := mc("spec: {size: 2, networkPolicy: {mode: Disabled}}")
	budget, policy := owned("PodDisruptionBudget", ""), owned("NetworkPolicy", "")
	ruleTest{
		rule: "deletion",
		keeps: map[string]func(*recorded){
			"a budget of one Pod": func(s *recorded) { s.user(two).operator(budget).user(one).deletes(operatorUser, budget) },
			"a policy that is disabled": func(s *recorded) {
				s.user(two).operator(policy).user(closed).deletes(operatorUser, policy)
			},
			"the spec changes back before the operator reads that": func(s *recorded) {
				s.user(two).operator(budget).user(one, two).deletes(operatorUser, budget)
			},
			"a deletion that is refused": func(s *recorded) {
				s.user(two).operator(budget).user(one).requestOf("delete", "poddisruptionbudgets", "a", 409)
			},
			"a Job of a restore that the spec no longer requests": func(s *recorded) {
				s.user(restores).user(one).requestOf("delete", "jobs", "a-restore", 200)
			},
			"another client deletes": func(s *recorded) { s.user(two).operator(budget).deletes("user", budget) },
		},
		breaks: map[string]func(*recorded){
			"a budget of two Pods": func(s *recorded) { s.user(two).operator(budget).deletes(operatorUser, budget) },
			"a policy that is requested": func(s *recorded) {
				s.user(two).operator(policy).deletes(operatorUser, policy)
			},
			"the spec changed back before the operator started": func(s *recorded) {
				s.user(two).operator(budget).user(one, two).restart().deletes(operatorUser, budget)
			},
			"a Deployment": func(s *recorded) {
				s.user(two).operator(owned("Deployment", "")).deletes(operatorUser, owned("Deployment", ""))
			},
			"a deletion of a budget of two Pods that is refused": func(s *recorded) {
				s.user(two).operator(budget).requestOf("delete", "poddisruptionbudgets", "a", 409)
			},
			"a deletion of a budget of two Pods that a finalizer holds": func(s *recorded) {
				s.user(two).operator(budget).write(request{user: operatorUser, verb: "delete"}, budget)
				s.Entries[len(s.Entries)-1].State.Type = watch.Modified
			},
			"a Job of a restore that the spec requests": func(s *recorded) {
				s.user(restores).user(restores).requestOf("delete", "jobs", "a-restore", 200)
			},
			"any other Job":                  func(s *recorded) { s.user(restores).user(one).requestOf("delete", "jobs", "a", 200) },
			"a deletion of a Pod":            func(s *recorded) { s.user(two).requestOf("delete", "pods", "p", 403) },
			"a budget of one Pod is created": func(s *recorded) { s.user(one).operator(budget) },
		},
	}.run(t)
}

func TestNothingIsLeftOfADeletedMemcached(t *testing.T) {
	service := owned("Service", "")
	ruleTest{
		rule: "nothing is left",
		keeps: map[string]func(*recorded){
			"all is deleted": func(s *recorded) {
				s.user(mc("")).operator(service).deletes("user", mc("")).deletes("gc", service).step(history.PhaseEnd)
			},
			"an object of a user": func(s *recorded) { s.user(loose("Service", "")).step(history.PhaseEnd) },
		},
		breaks: map[string]func(*recorded){
			"a Service is left": func(s *recorded) {
				s.user(mc("")).operator(service).deletes("user", mc("")).step(history.PhaseEnd)
			},
		},
	}.run(t)
}
