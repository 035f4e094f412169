package model

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestObservedGenerationIsTheGenerationThatTheStatusDescribes(t *testing.T) {
	ruleTest{
		rule: "observedGeneration",
		keeps: map[string]func(*recorded){
			"the same":                      func(s *recorded) { s.user(mc("")).reports(mc("status: {observedGeneration: 1}")) },
			"another client writes another": func(s *recorded) { s.user(mc("")).user(mc("status: {observedGeneration: 7}")) },
		},
		breaks: map[string]func(*recorded){
			"it is ahead":  func(s *recorded) { s.user(mc("")).reports(mc("status: {observedGeneration: 2}")) },
			"it is behind": func(s *recorded) { s.user(mc("")).reports(mc("status: {observedGeneration: 0}")) },
		},
	}.run(t)
}

// condition is a condition of generation 1.
func condition(name, status, reason string) string {
	return fmt.Sprintf("{type: %s, status: '%s', reason: %s, observedGeneration: 1}", name, status, reason)
}

// withConditions is Memcached a with some conditions.
func withConditions(spec string, conditions ...string) string {
	list := ""
	for _, condition := range conditions {
		list += condition + ", "
	}
	return mc("spec: {" + spec + "}, status: {observedGeneration: 1, conditions: [" + list + "]}")
}

func TestConditionsFollowKstatus(t *testing.T) {
	ready, rolling := condition("Ready", "True", "AllPodsReady"), condition("Ready", "False", "RollingOut")
	reports := func(spec string, conditions ...string) func(*recorded) {
		return func(s *recorded) { s.user(mc("")).reports(withConditions(spec, conditions...)) }
	}
	const (
		controlled  = "ownerReferences: [{kind: ReplicaSet, name: a-h, uid: h, controller: true}]"
		own         = "{kind: Pod, metadata: {name: p, uid: p, labels: {memcached_cr: a}, " + controlled + "}}"
		others      = "{kind: Pod, metadata: {name: p, uid: p, labels: {memcached_cr: b}, " + controlled + "}}"
		impostor    = "{kind: Pod, metadata: {name: p, uid: p, labels: {memcached_cr: a}}}"
		terminating = "{kind: Pod, metadata: {name: p, uid: p, labels: {memcached_cr: a}, " + controlled +
			", deletionTimestamp: '2026-01-01T00:00:00Z'}}"
	)
	nodes := mc("status: {nodes: [p], conditions: [" + ready + "]}")
	failed := mc("status: {nodes: [p], conditions: [" + condition("Ready", "False", "ApplyFailed") + ", " +
		condition("Reconciling", "True", "ApplyFailed") + "]}")
	ruleTest{
		rule: "conditions",
		keeps: map[string]func(*recorded){
			"ready":       reports("", ready),
			"reconciling": reports("", rolling, condition("Reconciling", "True", "RollingOut")),
			"stalled": reports("", condition("Ready", "False", "InvalidSpec"),
				condition("Stalled", "True", "InvalidSpec")),
			"suspended": reports("suspend: true", ready, condition("Suspended", "True", "Suspended")),
			"a Pod":     func(s *recorded) { s.user(mc(""), own).reports(nodes) },
			"a Pod that terminates by now": func(s *recorded) {
				s.user(mc(""), own, terminating).reports(nodes)
			},
			"a Pod of the last status, where the Pods cannot be read": func(s *recorded) {
				s.user(mc(""), own).reports(nodes).deletes("user", own).restart().reports(failed)
			},
		},
		breaks: map[string]func(*recorded){
			"none":                  reports(""),
			"an unknown reason":     reports("", condition("Ready", "False", "Broken")),
			"ready and reconciling": reports("", ready, condition("Reconciling", "True", "AllPodsReady")),
			"neither":               reports("", rolling),
			"both":                  reports("", rolling, condition("Reconciling", "True", "RollingOut"), condition("Stalled", "True", "RollingOut")),
			"another reason":        reports("", rolling, condition("Reconciling", "True", "PodsNotReady")),
			"the wrong one":         reports("", rolling, condition("Stalled", "True", "RollingOut")),
			"suspended although the spec does not request it":  reports("", ready, condition("Suspended", "True", "Suspended")),
			"a node that never was":                            func(s *recorded) { s.user(mc("")).reports(nodes) },
			"a node that never was, where Pods cannot be read": func(s *recorded) { s.user(mc("")).reports(failed) },
			"a Pod of another cache":                           func(s *recorded) { s.user(mc(""), others).reports(nodes) },
			"a Pod that only has the labels":                   func(s *recorded) { s.user(mc(""), impostor).reports(nodes) },
			"a Pod that was deleted when the operator started": func(s *recorded) {
				s.user(mc(""), own).deletes("user", own).restart().reports(nodes)
			},
			"a Pod that terminated when the operator started": func(s *recorded) {
				s.user(mc(""), own, terminating).restart().reports(nodes)
			},
		},
	}.run(t)
}

// pod is a Pod of the ReplicaSet with this hash.
func pod(name, hash, ready string) string {
	return fmt.Sprintf("{kind: Pod, metadata: {name: %s, uid: %s, labels: {pod-template-hash: %s, memcached_cr: a}}, "+
		"status: {conditions: [{type: Ready, status: '%s'}]}}", name, name, hash, ready)
}

// replicaSet is a ReplicaSet with the Pod template of withImage.
func replicaSet(hash, image string) string {
	return fmt.Sprintf("{kind: ReplicaSet, metadata: {name: %s, uid: %s, labels: {pod-template-hash: %s}}, spec: {template: "+
		"{metadata: {labels: {app: memcached, pod-template-hash: %s}}, spec: {containers: [{name: memcached, image: '%s'}]}}}}",
		hash, hash, hash, hash, image)
}

func labelled(image string) string {
	return owned("Deployment", fmt.Sprintf(
		"spec: {template: {metadata: {labels: {app: memcached}}, spec: {containers: [{name: memcached, image: '%s'}]}}}", image))
}

// counted is Memcached a with this number of ready Pods in its status.
func counted(ready int) string {
	status := fmt.Sprintf("status: {replicas: 2, updatedReplicas: 2, readyReplicas: %d, availableReplicas: %d}", ready, ready)
	return strings.Replace(labelled("i:1"), "spec: {", status+", spec: {", 1)
}

func TestReadyIsHonest(t *testing.T) {
	two := "size: 2"
	reported := withConditions(two, condition("Ready", "True", "AllPodsReady"))
	start := func(s *recorded) *recorded {
		return s.user(mc("spec: {size: 2}")).operator(labelled("i:1")).by("kube", replicaSet("h1", "i:1"))
	}
	ruleTest{
		rule: "ready",
		keeps: map[string]func(*recorded){
			"all Pods are ready": func(s *recorded) {
				start(s).by("kube", pod("p", "h1", "True"), pod("q", "h1", "True"), counted(2)).reports(reported)
			},
			"a Pod failed just now": func(s *recorded) {
				start(s).by("kube", pod("p", "h1", "True"), pod("q", "h1", "True"), counted(2))
				s.by("kube", pod("q", "h1", "False"), counted(1)).reports(reported)
			},
			"a Pod failed while watches were silent": func(s *recorded) {
				start(s).by("kube", pod("p", "h1", "True"), pod("q", "h1", "True"), counted(2), counted(1))
				s.step("a while").step("a while").step("a while").step("a while").delay(8 * time.Second).reports(reported)
			},
			"not ready": func(s *recorded) { start(s).reports(withConditions(two, condition("Ready", "False", "RollingOut"))) },
		},
		breaks: map[string]func(*recorded){
			"no Deployment":     func(s *recorded) { s.user(mc("spec: {size: 2}")).reports(reported) },
			"no Pods":           func(s *recorded) { start(s).reports(reported) },
			"only one is ready": func(s *recorded) { start(s).by("kube", pod("p", "h1", "True")).reports(reported) },
			"a Pod failed before the operator started": func(s *recorded) {
				start(s).by("kube", pod("p", "h1", "True"), pod("q", "h1", "True"), counted(2), counted(1)).restart()
				s.reports(reported)
			},
			"a Pod failed a while ago": func(s *recorded) {
				start(s).by("kube", pod("p", "h1", "True"), pod("q", "h1", "True"), counted(2), counted(1))
				s.step("a while").step("a while").step("a while").step("a while").step("a while").step("a while").reports(reported)
			},
			"two were ready, but not at a time": func(s *recorded) {
				start(s).by("kube", pod("p", "h1", "True"), pod("p", "h1", "False"), pod("q", "h1", "True")).reports(reported)
			},
			"those with the former template are ready": func(s *recorded) {
				start(s).by("kube", pod("p", "h1", "True"), pod("q", "h1", "True")).operator(labelled("i:2"))
				s.by("kube", replicaSet("h2", "i:2"), pod("r", "h2", "True")).reports(reported)
			},
		},
	}.run(t)
}
