package model

import (
	"fmt"
	"strings"
	"testing"
)

// two is a Deployment of two Pods, with maxUnavailable and a status.
func two(maxUnavailable, status string) string {
	return owned("Deployment", fmt.Sprintf("spec: {replicas: 2, strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: %s}}}, "+
		"status: {%s}", maxUnavailable, status))
}

const (
	complete   = "replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2"
	inProgress = "replicas: 3, updatedReplicas: 1, readyReplicas: 2, availableReplicas: 2"
)

// ofSet is a Pod of the ReplicaSet with the name s.
func ofSet(name, ready string) string {
	return fmt.Sprintf("{kind: Pod, metadata: {name: %s, uid: %s, labels: {memcached_cr: a}, ownerReferences: [{kind: ReplicaSet, "+
		"name: s, uid: s, controller: true}]}, status: {conditions: [{type: Ready, status: '%s'}]}}", name, name, ready)
}

const set = "{kind: ReplicaSet, metadata: {name: s, uid: s, ownerReferences: [{kind: Deployment, name: a, uid: Deployment, " +
	"controller: true}]}}"

func TestARolloutLeavesEnoughPods(t *testing.T) {
	start := func(s *recorded, maxUnavailable string) *recorded {
		s.user(mc("spec: {size: 2, rollout: {maxUnavailable: "+maxUnavailable+"}}")).operator(two(maxUnavailable, "")).by("kube", set, ofSet("p", "True"), ofSet("q", "True"))
		return s.by("kube", two(maxUnavailable, complete), two(maxUnavailable, inProgress))
	}
	again := func(s *recorded, template string) *recorded {
		template = fmt.Sprintf("spec: {template: {metadata: {name: '%s'}}, ", template)
		return s.operator(strings.Replace(two("0", inProgress), "spec: {", template, 1))
	}
	ruleTest{
		rule: "availability",
		keeps: map[string]func(*recorded){
			"a Pod is added first": func(s *recorded) {
				start(s, "0").by("kube", ofSet("r", "True")).deletes(replicaSetController, ofSet("p", "True"))
			},
			"one may be missing": func(s *recorded) { start(s, "50%").deletes(replicaSetController, ofSet("p", "True")) },
			"a user deletes": func(s *recorded) {
				start(s, "0").deletes("user", ofSet("p", "True")).deletes(replicaSetController, ofSet("q", "True"))
			},
			"the ReplicaSet adopts a Pod": func(s *recorded) {
				orphan := strings.Replace(ofSet("r", "True"), "controller: true", "controller: false", 1)
				start(s, "0").by("kube", orphan, ofSet("r", "True"))
				s.deletes(replicaSetController, ofSet("p", "True")).deletes(replicaSetController, ofSet("q", "True"))
			},
			"another client takes a Pod away by its labels": func(s *recorded) {
				relabelled := strings.Replace(ofSet("p", "True"), "{memcached_cr: a}", "{app: debug}", 1)
				start(s, "0").user(relabelled).deletes(replicaSetController, ofSet("q", "True"))
			},
			"a Pod fails": func(s *recorded) {
				start(s, "0").by("kwok", ofSet("p", "False")).deletes(replicaSetController, ofSet("q", "True"))
			},
			"another template follows before the rollout is complete": func(s *recorded) {
				start(s, "0")
				again(s, "").user(mc("spec: {size: 2, memory: 65Mi}"))
				again(s, "x").deletes(replicaSetController, ofSet("p", "True"))
			},
			"a user allowed it": func(s *recorded) {
				start(s, "0").user(mc("spec: {size: 2, rollout: {maxUnavailable: 1}}")).operator(two("1", inProgress))
				s.deletes(replicaSetController, ofSet("p", "True"))
			},
			"a user chose a smaller size": func(s *recorded) {
				start(s, "0").user(mc("spec: {size: 1}"))
				s.operator(strings.Replace(two("0", inProgress), "replicas: 2", "replicas: 1", 1))
				s.deletes(replicaSetController, ofSet("p", "True"))
			},
			"another client allowed it": func(s *recorded) {
				start(s, "0").user(two("2", inProgress)).operator(two("0", inProgress))
				s.deletes(replicaSetController, ofSet("p", "True"))
			},
		},
		breaks: map[string]func(*recorded){
			"a Pod is deleted first": func(s *recorded) { start(s, "0").deletes(replicaSetController, ofSet("p", "True")) },
			"the new Pod is not ready": func(s *recorded) {
				start(s, "0").by("kube", ofSet("r", "False")).deletes(replicaSetController, ofSet("p", "True"))
			},
			"another template follows, and no one requested it": func(s *recorded) {
				again(again(start(s, "0"), ""), "x").deletes(replicaSetController, ofSet("p", "True"))
			},
			"the operator allows more than the spec": func(s *recorded) {
				start(s, "0").operator(two("1", inProgress)).deletes(replicaSetController, ofSet("p", "True"))
			},
			"the operator chooses a smaller size": func(s *recorded) {
				start(s, "0").operator(strings.Replace(two("0", inProgress), "replicas: 2", "replicas: 1", 1))
				s.deletes(replicaSetController, ofSet("p", "True"))
			},
			"two are missing": func(s *recorded) {
				start(s, "1").deletes(replicaSetController, ofSet("p", "True")).deletes(replicaSetController, ofSet("q", "True"))
			},
		},
	}.run(t)
}
