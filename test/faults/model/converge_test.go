package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

// cache adds the objects of Memcached a: one Pod, which is ready or not, and a status.
func cache(s *recorded, podReady, reason string) *recorded {
	state := "False"
	if reason == "AllPodsReady" {
		state = "True"
	}
	s.user(mc("spec: {size: 1}"), set)
	count := map[string]int{"True": 1}[podReady]
	status := fmt.Sprintf("status: {replicas: 1, updatedReplicas: 1, readyReplicas: %d, availableReplicas: %d}", count, count)
	s.operator(owned("Service", ""), owned("NetworkPolicy", ""),
		strings.Replace(deployed(1, rolling, "i", arguments), "spec: {", status+", spec: {", 1))
	s.by("kube", ofSet("p", podReady))
	return s.reports(mc(fmt.Sprintf("spec: {size: 1}, status: {observedGeneration: 1, nodes: [p], conditions: [%s]}",
		condition("Ready", state, reason)))).step("a while").step("a while")
}

// overwritten makes another client overwrite the status of Memcached a several times. After some of these times, the
// operator writes it again.
func overwritten(s *recorded, byOperator int) *recorded {
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
	with := func(ready string) string {
		return mc("spec: {size: 1, auth: {secretName: s}}, status: {observedGeneration: 1, nodes: [p], conditions: [" +
			ready + "]}")
	}
	named := with(condition("Ready", "True", "AllPodsReady"))
	missing, invalid := with(condition("Ready", "False", "SecretNotFound")), with(condition("Ready", "False", "InvalidSecret"))
	secret := func(holds string) string {
		return "{kind: Secret, metadata: {name: s, uid: secret, annotations: {faults.example.com/holds: " + holds + "}}}"
	}
	ruleTest{
		rule: "converges",
		keeps: map[string]func(*recorded){
			"ready": func(s *recorded) { cache(s, "True", "AllPodsReady").step(history.PhaseReady) },
			"an object that terminates": func(s *recorded) {
				terminating := strings.Replace(owned("Service", ""), "uid: Service,", "uid: Service, deletionTimestamp: '2026-01-01T00:00:00Z',", 1)
				cache(s, "True", "RollingOut").user(terminating).step("a while").step(history.PhaseAtRest)
			},
			"a Pod that an earlier Deployment left behind": func(s *recorded) {
				earlier := strings.NewReplacer("name: s, uid: s", "name: t, uid: t", "uid: Deployment", "uid: earlier")
				cache(s, "True", "AllPodsReady").by("kube", earlier.Replace(set), earlier.Replace(ofSet("q", "True")))
				s.step(history.PhaseReady)
			},
			"an invalid spec, at first": func(s *recorded) { cache(s, "True", "InvalidSpec").step(history.PhaseAtRest) },
			"a Pod that failed just now": func(s *recorded) {
				cache(s, "True", "AllPodsReady").atTheSameTime().by("kube", ofSet("p", "False")).atTheSameTime().step(history.PhaseAtRest)
			},
			"a status that another client overwrote too often": func(s *recorded) {
				overwritten(s, mostOverwrites).step(history.PhaseAtRest)
			},
			"a Secret that does not exist": func(s *recorded) {
				cache(s, "True", "AllPodsReady").user(named).reports(missing).step("a while").step(history.PhaseAtRest)
			},
			"an invalid Secret": func(s *recorded) {
				cache(s, "True", "AllPodsReady").user(secret("malformed"), named).reports(invalid)
				s.step("a while").step(history.PhaseAtRest)
			},
			"a Secret that could not be read": func(s *recorded) {
				cache(s, "True", "AllPodsReady").user(named).reports(missing).user(secret("valid"))
				s.request("get", "secrets", 500).step("a while").step(history.PhaseAtRest)
			},
			"a write that the API server refuses": func(s *recorded) {
				cache(s, "True", "ApplyFailed").step(history.PhaseFaultsOver).requestOf("patch", "services", "a", 422)
				s.step("a while").step(history.PhaseAtRest)
			},
			"an object that nothing allows to adopt": func(s *recorded) {
				cache(s, "True", "OwnershipConflict").user(loose("NetworkPolicy", "")).step(history.PhaseReady)
			},
			"a Deployment whose managed fields another client removed": func(s *recorded) {
				cache(s, "True", "PodsNotReady").user(loose("Deployment", applied), loose("Deployment", "")).step(history.PhaseReady)
			},
			"a conflict that lasts, without a restart": func(s *recorded) {
				cache(s, "True", "FieldManagerConflict").step(history.PhaseReady)
			},
		},
		breaks: map[string]func(*recorded){
			"an object that it may adopt": func(s *recorded) {
				cache(s, "True", "OwnershipConflict").user(loose("NetworkPolicy", adoptBy)).step(history.PhaseReady)
			},
			"a status that another client overwrote, and the operator was restarted": func(s *recorded) {
				overwritten(s, mostOverwrites).restart().request("list", "memcacheds", 200).step(history.PhaseAtRest)
			},
			"a status that another client overwrote a few times": func(s *recorded) {
				overwritten(s, mostOverwrites-1).step(history.PhaseAtRest)
			},
			"a write that failed before the faults were over": func(s *recorded) {
				cache(s, "True", "ApplyFailed").requestOf("patch", "services", "a", 422).step(history.PhaseFaultsOver)
				s.step("a while").step(history.PhaseAtRest)
			},
			"a write that failed, when the API server refused one for another cache": func(s *recorded) {
				cache(s, "True", "ApplyFailed").step(history.PhaseFaultsOver).requestOf("patch", "services", "b", 422)
				s.step("a while").step(history.PhaseAtRest)
			},
			"an old generation": func(s *recorded) {
				s.user(mc("status: {observedGeneration: 0}")).step(history.PhaseAtRest)
			},
			"Ready without a Deployment": func(s *recorded) {
				s.user(withConditions("", condition("Ready", "True", "AllPodsReady"))).step(history.PhaseAtRest)
			},
			"Ready without Pods":      func(s *recorded) { cache(s, "False", "AllPodsReady").step(history.PhaseAtRest) },
			"not Ready with all Pods": func(s *recorded) { cache(s, "True", "RollingOut").step(history.PhaseAtRest) },
			"Ready without its Secret": func(s *recorded) {
				cache(s, "True", "AllPodsReady").user(named).reports(named).step("a while").step(history.PhaseAtRest)
			},
			"a Secret whose creation is missed": func(s *recorded) {
				cache(s, "True", "AllPodsReady").user(named).reports(missing).user(secret("valid"))
				s.step("a while").step(history.PhaseAtRest)
			},
			"a Secret whose rotation is missed": func(s *recorded) {
				cache(s, "True", "AllPodsReady").user(secret("malformed"), named).reports(invalid).user(secret("valid"))
				s.step("a while").step(history.PhaseAtRest)
			},
			"not Ready in the end": func(s *recorded) { cache(s, "False", "PodsNotReady").step(history.PhaseReady) },
		},
	}.run(t)
}

func TestWhatIsReadyIsAsDesired(t *testing.T) {
	// policy is a NetworkPolicy with a label that the operator applied.
	policy := func(label string) string {
		return fmt.Sprintf(`{kind: NetworkPolicy, metadata: {name: a, uid: NetworkPolicy, labels: {x: %s, unowned: %s},
  ownerReferences: [{kind: Memcached, name: a, uid: m, controller: true}], managedFields: [{manager: memcached-operator,
  operation: Apply, fieldsV1: {"f:metadata": {"f:labels": {"f:x": {}}}}}]}}`, label, label)
	}
	// listening is an object with a list item that the operator applied.
	listening := func(addition string) string {
		return fmt.Sprintf(`{kind: Service, metadata: {name: a, uid: Service, ownerReferences: [{kind: Memcached, name: a, uid: m,
  controller: true}], managedFields: [{manager: memcached-operator, operation: Apply, fieldsV1: {"f:ports": {"k:{\"name\":\"p\"}":
  {".": {}, "f:name": {}}}}}]}, ports: [{name: p%s}]}`, addition)
	}
	surging := withConditions("size: 1, rollout: {maxSurge: 2}", condition("Ready", "True", "AllPodsReady"))
	ruleTest{
		rule: "desired state",
		keeps: map[string]func(*recorded){
			"all objects": func(s *recorded) { cache(s, "True", "AllPodsReady").step(history.PhaseReady) },
			"drift, while it is not Ready": func(s *recorded) {
				cache(s, "True", "FieldManagerConflict").operator(policy("own")).user(policy("other"))
				s.step("a while").step(history.PhaseReady)
			},
			"another strategy that is applied": func(s *recorded) {
				cache(s, "True", "AllPodsReady").user(surging)
				s.operator(deployed(1, "maxSurge: 2, maxUnavailable: 0", "i", arguments)).reports(surging)
				s.step("a while").step(history.PhaseReady)
			},
			"an apply that the audit log does not have": func(s *recorded) {
				hashed := func(hash string) string {
					return strings.Replace(policy(hash), "uid: NetworkPolicy,", "uid: NetworkPolicy, annotations: {"+appliedHash+": "+hash+"},", 1)
				}
				cache(s, "True", "AllPodsReady").operator(hashed("own")).user(hashed("new"))
				s.Entries[len(s.Entries)-1].State.By = nil
				s.step("a while").step(history.PhaseReady)
			},
			"an addition to a list item": func(s *recorded) {
				cache(s, "True", "AllPodsReady").operator(listening("")).user(listening(", other: x")).step("a while").step(history.PhaseReady)
			},
			"an object that is too many and lost its label": func(s *recorded) {
				cache(s, "True", "AllPodsReady").user(owned("PodDisruptionBudget", "")).step("a while").step(history.PhaseReady)
			},
			"an object of a user": func(s *recorded) {
				cache(s, "True", "AllPodsReady").user(loose("PodDisruptionBudget", "")).step("a while").step(history.PhaseReady)
			},
		},
		breaks: map[string]func(*recorded){
			"a change that admission reverted": func(s *recorded) {
				allowing := func(port int) string {
					return owned("NetworkPolicy", fmt.Sprintf("spec: {ingress: [{name: x, port: %d}]}", port))
				}
				cache(s, "True", "AllPodsReady").operator(allowing(1)).stores(allowing(2))
				s.step("a while").step(history.PhaseAtRest)
			},
			"an object that is missing": func(s *recorded) {
				cache(s, "True", "AllPodsReady").deletes("user", owned("NetworkPolicy", "")).step(history.PhaseReady)
			},
			"an object that is too many": func(s *recorded) {
				labelled := strings.Replace(owned("PodDisruptionBudget", ""), "metadata: {", "metadata: {labels: {memcached_cr: a}, ", 1)
				cache(s, "True", "AllPodsReady").user(labelled).step("a while").step(history.PhaseReady)
			},
			"drift": func(s *recorded) {
				cache(s, "True", "AllPodsReady").operator(policy("own")).user(policy("other"))
				s.step("a while").step(history.PhaseAtRest)
			},
			"another strategy that is not applied": func(s *recorded) {
				cache(s, "True", "AllPodsReady").user(surging).reports(surging).step("a while").step(history.PhaseReady)
			},
			"a Deployment that is still paused": func(s *recorded) {
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
	deployment := func(name, affinity string) string {
		return fmt.Sprintf(`{kind: Deployment, metadata: {name: %s, uid: d%s, managedFields: [{manager: memcached-operator,
  operation: Apply, fieldsV1: {"f:spec": {"f:affinity": {"f:podAffinity": {}}}}}]}, spec: {affinity: {%s}}}`,
			name, name, affinity)
	}
	ruleTest{
		rule: "the same spec gives the same objects",
		keeps: map[string]func(*recorded){
			"one of them has an empty affinity": func(s *recorded) {
				s.user(named("a", "x")...).user(named("b", "x")...)
				s.user(deployment("a", "podAffinity: {}"), deployment("b", "")).step(history.PhaseReady)
			},
			"they differ in the name, and in fields of others": func(s *recorded) {
				s.user(named("a", "x")...).user(named("b", "x")...).step(history.PhaseReady)
			},
		},
		breaks: map[string]func(*recorded){
			"they differ in an affinity": func(s *recorded) {
				s.user(named("a", "x")...).user(named("b", "x")...)
				s.user(deployment("a", "podAffinity: {x: y}"), deployment("b", "")).step(history.PhaseReady)
			},
			"they differ in a label": func(s *recorded) {
				s.user(named("a", "x")...).user(named("b", "y")...).step(history.PhaseReady)
			},
		},
	}.run(t)
}
