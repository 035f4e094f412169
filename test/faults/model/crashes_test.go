package model

import (
	"testing"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

func TestTheOperatorNeverPanics(t *testing.T) {
	ruleTest{
		rule: "no panic",
		keeps: map[string]func(*recorded){
			"it cannot reach the API server": func(s *recorded) { s.step(history.EndedByItself + ": exit status 1") },
			"it is killed":                   func(s *recorded) { s.step(history.EndedByItself + ": signal: killed") },
			"a step":                         func(s *recorded) { s.step("kill the operator (a)") },
		},
		breaks: map[string]func(*recorded){
			"it ends": func(s *recorded) { s.step(history.EndedByItself + ": exit status 2") },
			"it recovers": func(s *recorded) {
				s.step(history.Logged + `{"level":"info","msg":"` + history.Panic + ` in reconciler: nil map"}`)
			},
		},
	}.run(t)
}
