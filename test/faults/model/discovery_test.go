package model

import (
	"fmt"
	"testing"
)

// announced is a Pod of a cache, whose annotation has a list of servers.
func announced(name, cache string, version int, host string) string {
	return fmt.Sprintf(`{kind: Pod, metadata: {name: %[1]s, uid: %[1]s, labels: {memcached_cr: %[2]s}, annotations: `+
		`{cache.example.com/discovery: '{"version":%[3]d,"endpoint":"a:1","nodes":[{"host":"%[4]s"}]}'}}}`, name, cache, version, host)
}

func TestANewerListOfServersHasAHigherVersion(t *testing.T) {
	ruleTest{
		rule: "a newer list of servers has a higher version",
		keeps: map[string]func(*recorded){
			"the same list in two Pods": func(s *recorded) {
				s.operator(announced("p", "a", 1, "x")).operator(announced("q", "a", 1, "x"))
			},
			"another list with a higher version": func(s *recorded) {
				s.operator(announced("p", "a", 1, "x")).operator(announced("q", "a", 2, "y")).operator(announced("p", "a", 2, "y"))
			},
			"a list of another cache": func(s *recorded) { s.operator(announced("p", "a", 2, "x")).operator(announced("q", "b", 1, "y")) },
			"what another client writes": func(s *recorded) {
				s.operator(announced("p", "a", 2, "x")).user(announced("q", "a", 1, "y"))
			},
			"a list that says nothing": func(s *recorded) { s.operator(announced("p", "a", 2, "x")).operator(announced("q", "a", 0, "y")) },
		},
		breaks: map[string]func(*recorded){
			"another list with the same version": func(s *recorded) {
				s.operator(announced("p", "a", 1, "x")).operator(announced("q", "a", 1, "y"))
			},
			"another list of the same Pod with a lower version": func(s *recorded) {
				s.operator(announced("p", "a", 2, "x")).operator(announced("p", "a", 1, "y"))
			},
		},
	}.run(t)
}
