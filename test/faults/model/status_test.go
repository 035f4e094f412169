package model

import "testing"

func TestObservedGenerationIsTheGenerationThatTheStatusDescribes(t *testing.T) {
	ruleTest{
		rule: "observedGeneration",
		keeps: map[string]func(*tale){
			"the same":                      func(s *tale) { s.user(mc("")).reports(mc("status: {observedGeneration: 1}")) },
			"another client writes another": func(s *tale) { s.user(mc("")).user(mc("status: {observedGeneration: 7}")) },
		},
		breaks: map[string]func(*tale){
			"it is ahead":  func(s *tale) { s.user(mc("")).reports(mc("status: {observedGeneration: 2}")) },
			"it is behind": func(s *tale) { s.user(mc("")).reports(mc("status: {observedGeneration: 0}")) },
		},
	}.run(t)
}
