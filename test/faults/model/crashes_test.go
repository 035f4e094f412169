package model

import (
	"testing"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

func TestTheOperatorNeverPanics(t *testing.T) {
	ruleTest{
		rule: "no panic",
		keeps: map[string]func(*tale){
			"it cannot reach the API server": func(s *tale) { s.step(history.EndedByItself + ": exit status 1") },
			"it is killed":                   func(s *tale) { s.step(history.EndedByItself + ": signal: killed") },
			"a step":                         func(s *tale) { s.step("kill the operator (a)") },
		},
		breaks: map[string]func(*tale){
			"it ends": func(s *tale) { s.step(history.EndedByItself + ": exit status 2") },
			"it recovers": func(s *tale) {
				s.step(history.Logged + `{"level":"info","msg":"` + history.Panic + ` in reconciler: nil map"}`)
			},
		},
	}.run(t)
}
