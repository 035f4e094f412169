package model

import (
	"fmt"
	"testing"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

// cache has the objects of Memcached a with one Pod, which is ready or not, and a status.
func cache(s *tale, podReady, reason string) *tale {
	state := "False"
	if reason == "AllPodsReady" {
		state = "True"
	}
	s.user(mc("spec: {size: 1}"), "{kind: ReplicaSet, metadata: {name: s, uid: s}}")
	count := map[string]int{"True": 1}[podReady]
	s.operator(owned("Service", ""), owned("NetworkPolicy", ""), owned("Deployment", fmt.Sprintf("spec: {replicas: 1}, "+
		"status: {replicas: 1, updatedReplicas: 1, readyReplicas: %d, availableReplicas: %d}", count, count)))
	s.by("kube", ofSet("p", podReady))
	return s.reports(mc(fmt.Sprintf("spec: {size: 1}, status: {observedGeneration: 1, nodes: [p], conditions: [%s]}",
		condition("Ready", state, reason)))).step("a while").step("a while")
}

// overwritten has another client overwrite the status of Memcached a, and the operator some of those times.
func overwritten(s *tale, byOperator int) *tale {
	cache(s, "True", "AllPodsReady")
	ready := mc("spec: {size: 1}, status: {observedGeneration: 1, nodes: [p], conditions: [" +
		condition("Ready", "True", "AllPodsReady") + "]}")
	other := request{user: "user", verb: "patch", subresource: "status"}
	for range byOperator {
		s.write(other, mc("")).reports(ready)
	}
	return s.write(other, mc("")).step("a while").step("a while")
}

func TestEachMemcachedBecomesReady(t *testing.T) {
	ruleTest{
		rule: "converges",
		keeps: map[string]func(*tale){
			"ready":                     func(s *tale) { cache(s, "True", "AllPodsReady").step(history.PhaseReady) },
			"an invalid spec, at first": func(s *tale) { cache(s, "True", "InvalidSpec").step(history.PhaseAtRest) },
			"a Pod that failed just now": func(s *tale) {
				cache(s, "True", "AllPodsReady").atOnce().by("kube", ofSet("p", "False")).atOnce().step(history.PhaseAtRest)
			},
			"a status that another client overwrote too often": func(s *tale) {
				overwritten(s, mostOverwrites).step(history.PhaseAtRest)
			},
			"a conflict that lasts, without a restart": func(s *tale) {
				cache(s, "True", "FieldManagerConflict").step(history.PhaseReady)
			},
		},
		breaks: map[string]func(*tale){
			"a status that another client overwrote, and the operator was restarted": func(s *tale) {
				overwritten(s, mostOverwrites).restart().request("list", "memcacheds", 200).step(history.PhaseAtRest)
			},
			"a status that another client overwrote a few times": func(s *tale) {
				overwritten(s, mostOverwrites-1).step(history.PhaseAtRest)
			},
			"an old generation": func(s *tale) {
				s.user(mc("status: {observedGeneration: 0}")).step(history.PhaseAtRest)
			},
			"Ready without a Deployment": func(s *tale) {
				s.user(withConditions("", condition("Ready", "True", "AllPodsReady"))).step(history.PhaseAtRest)
			},
			"Ready without Pods":      func(s *tale) { cache(s, "False", "AllPodsReady").step(history.PhaseAtRest) },
			"not Ready with all Pods": func(s *tale) { cache(s, "True", "RollingOut").step(history.PhaseAtRest) },
			"not Ready in the end":    func(s *tale) { cache(s, "False", "PodsNotReady").step(history.PhaseReady) },
		},
	}.run(t)
}

func TestWhatIsReadyIsAsDesired(t *testing.T) {
	// policy has a label that the operator applied.
	policy := func(label string) string {
		return fmt.Sprintf(`{kind: NetworkPolicy, metadata: {name: a, uid: NetworkPolicy, labels: {x: %s, unowned: %s},
  ownerReferences: [{kind: Memcached, name: a, uid: m, controller: true}], managedFields: [{manager: memcached-operator,
  operation: Apply, fieldsV1: {"f:metadata": {"f:labels": {"f:x": {}}}}}]}}`, label, label)
	}
	ruleTest{
		rule: "desired state",
		keeps: map[string]func(*tale){
			"all objects": func(s *tale) { cache(s, "True", "AllPodsReady").step(history.PhaseReady) },
			"drift, while it is not Ready": func(s *tale) {
				cache(s, "True", "FieldManagerConflict").operator(policy("own")).user(policy("other"))
				s.step("a while").step(history.PhaseReady)
			},
			"an object of a user": func(s *tale) {
				cache(s, "True", "AllPodsReady").user(loose("PodDisruptionBudget", "")).step("a while").step(history.PhaseReady)
			},
		},
		breaks: map[string]func(*tale){
			"an object that is missing": func(s *tale) {
				cache(s, "True", "AllPodsReady").deletes("user", owned("NetworkPolicy", "")).step(history.PhaseReady)
			},
			"an object that is too many": func(s *tale) {
				cache(s, "True", "AllPodsReady").user(owned("PodDisruptionBudget", ""))
				s.step("a while").step(history.PhaseReady)
			},
			"drift": func(s *tale) {
				cache(s, "True", "AllPodsReady").operator(policy("own")).user(policy("other"))
				s.step("a while").step(history.PhaseAtRest)
			},
			"a Deployment that is still paused": func(s *tale) {
				cache(s, "True", "AllPodsReady").user(`{kind: Deployment, metadata: {name: a, uid: Deployment, ownerReferences:
  [{kind: Memcached, name: a, uid: m, controller: true}], managedFields: [{manager: memcached-operator-pause}]}}`)
				s.step("a while").step(history.PhaseAtRest)
			},
		},
	}.run(t)
}

func TestTheSameSpecGivesTheSameObjects(t *testing.T) {
	named := func(name, label string) []string {
		return []string{
			fmt.Sprintf("{kind: Memcached, metadata: {name: %s, uid: m%s}, status: {conditions: [%s, %s]}}", name, name,
				condition("Ready", "True", "AllPodsReady"), condition("UpdatePending", "False", "NoUpdatePending")),
			fmt.Sprintf(`{kind: Service, metadata: {name: %s, uid: s%s, labels: {cache: %s, other: %s, unowned: %s}, managedFields: [{manager:
  memcached-operator, operation: Apply, fieldsV1: {"f:metadata": {"f:labels": {"f:cache": {}, "f:other": {}}}}}]}}`,
				name, name, name, label, name),
		}
	}
	ruleTest{
		rule: "the same spec gives the same objects",
		keeps: map[string]func(*tale){
			"they differ in the name, and in fields of others": func(s *tale) {
				s.user(named("a", "x")...).user(named("b", "x")...).step(history.PhaseReady)
			},
		},
		breaks: map[string]func(*tale){
			"they differ in a label": func(s *tale) {
				s.user(named("a", "x")...).user(named("b", "y")...).step(history.PhaseReady)
			},
		},
	}.run(t)
}
