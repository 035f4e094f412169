package model

import (
	"fmt"
	"testing"
)

// withImage is a Deployment whose Pod template has an image.
func withImage(image string) string {
	return owned("Deployment", fmt.Sprintf("spec: {template: {spec: {containers: [{name: memcached, image: %s}]}}}", image))
}

// kept is the same Deployment, as the operator applies it while a Secret is missing.
func kept(image string) string {
	return owned("Deployment", fmt.Sprintf(
		"spec: {template: {spec: {containers: [{name: memcached, image: %s, terminationMessagePath: x}]}}}", image))
}

// tolerating is a Deployment whose Pods have two tolerations.
func tolerating(first, second string) string {
	return owned("Deployment", fmt.Sprintf("spec: {template: {spec: {tolerations: [{key: %s}, {key: %s}]}}}", first, second))
}

// twoOperators makes one operator apply a change, and another operator some seconds later. The other operator was
// started before the change.
func twoOperators(s *recorded, seconds int) {
	one := s.process
	two := s.restart().process
	s.user(mc("spec: {memory: 65Mi}"))
	s.reports(mc("spec: {memory: 65Mi}, status: {conditions: [{type: Ready, status: 'False'}]}"))
	s.process = one
	s.operator(withImage("i:2"))
	s.reports(mc("spec: {memory: 65Mi}, status: {conditions: [{type: Ready, status: 'True'}]}"))
	for range seconds {
		s.step("a second later")
	}
	s.process = two
	s.operator(withImage("i:3"))
}

func TestNoRolloutThatNoOneRequested(t *testing.T) {
	first := mc("spec: {}")
	requested := "{kind: Memcached, metadata: {name: a, uid: m, generation: 1, " +
		"annotations: {cache.example.com/update-requested: now}}}"
	ruleTest{
		rule: "no rollout that no one requested",
		keeps: map[string]func(*recorded){
			"another memory": func(s *recorded) {
				s.user(first).operator(withImage("i:1")).user(mc("spec: {memory: 65Mi}")).operator(withImage("i:2"))
			},
			"an update that was requested": func(s *recorded) {
				s.user(first).operator(withImage("i:1")).user(requested).operator(withImage("i:2"))
			},
			"a change that a process wrote before a crash, without a report": func(s *recorded) {
				s.user(first, mc("spec: {memory: 65Mi}")).operator(withImage("i:1")).restart()
				s.reports(mc("spec: {memory: 65Mi}, status: {conditions: [{type: Ready, status: 'False'}]}"))
				s.operator(withImage("i:2"))
			},
			"a change that each of two operators applies with its own template": func(s *recorded) {
				twoOperators(s.user(first).operator(withImage("i:1")), 0)
			},
			"an operator that does not know yet what another one made of its template": func(s *recorded) {
				s.user(first).operator(withImage("i:1"))
				one := s.process
				twoOperators(s, 0)
				s.process = one
				s.operator(withImage("i:2"))
			},
			"automatic updates": func(s *recorded) {
				s.user(mc("spec: {updatePolicy: Automatic}")).operator(withImage("i:1")).restart().operator(withImage("i:2"))
			},
			"a change of another client is reverted": func(s *recorded) {
				s.user(first).operator(withImage("i:1")).user(withImage("i:9")).operator(withImage("i:1"))
			},
			"the order of a set that another client changed": func(s *recorded) {
				s.user(first).operator(tolerating("a", "b")).user(tolerating("b", "a")).operator(tolerating("a", "b"))
			},
			"another Deployment of the same name": func(s *recorded) {
				s.user(first).operator(withImage("i:1")).deletes("user", withImage("i:1"))
				s.operator("{kind: Deployment, metadata: {name: a, uid: other}, spec: {template: {spec: {}}}}")
			},
			"the template is kept while a Secret is missing": func(s *recorded) {
				s.user(first).operator(withImage("i:1")).user(kept("i:9")).operator(kept("i:9"))
			},
			"a kept template that admission changes": func(s *recorded) {
				s.user(first).operator(withImage("i:1")).user(kept("i:1")).operator(kept("i:1")).stores(kept("i:9"))
			},
			"a spec that changed before a Secret was there": func(s *recorded) {
				s.user(first).operator(withImage("i:1")).user(mc("spec: {threads: 8}"))
				s.user(kept("i:1")).operator(kept("i:1")).operator(withImage("i:2"))
			},
		},
		breaks: map[string]func(*recorded){
			"a restart": func(s *recorded) {
				s.user(first).operator(withImage("i:1")).restart().operator(withImage("i:2"))
			},
			"a change that another operator applied long ago": func(s *recorded) {
				twoOperators(s.user(first).operator(withImage("i:1")), 10)
			},
			"another size": func(s *recorded) {
				s.user(first).operator(withImage("i:1")).user(mc("spec: {size: 3}")).operator(withImage("i:2"))
			},
			"another spelling": func(s *recorded) {
				s.user(first).operator(withImage("i:1")).user(mc("spec: {memory: 65536Ki, threads: 4, placement: {schedulerName: default-scheduler, affinity: {nodeAffinity: {}}}, " +
					"terminationDelaySeconds: 30, rollout: {maxSurge: 2}, metrics: {mode: Enabled}}")).operator(withImage("i:2"))
			},
			"a change that was applied before": func(s *recorded) {
				s.user(first).operator(withImage("i:1")).user(mc("spec: {memory: 65Mi}")).operator(withImage("i:2"))
				s.reports(mc("spec: {memory: 65Mi}, status: {conditions: [{type: Ready, status: 'True'}]}"))
				s.restart().operator(withImage("i:3"))
			},
			"a change that was applied before a crash, and an upgrade": func(s *recorded) {
				s.user(first).operator(withImage("i:1")).user(mc("spec: {memory: 65Mi}")).operator(withImage("i:2")).restart()
				s.reports(mc("spec: {memory: 65Mi}, status: {conditions: [{type: Ready, status: 'True'}]}"))
				s.restart().operator(withImage("i:3"))
			},
			"another order of a set": func(s *recorded) {
				s.user(first).operator(tolerating("a", "b")).operator(tolerating("b", "a"))
			},
			"a kept template that was not there": func(s *recorded) {
				s.user(first).operator(withImage("i:1")).operator(kept("i:2"))
			},
		},
	}.run(t)
}
