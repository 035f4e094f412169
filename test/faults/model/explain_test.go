package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAViolationIsExplainedByWhatConcernsItsCache(t *testing.T) {
	s := newHistory(t)
	s.user(mc("spec: {size: 1}")).step("a step").user("{kind: Memcached, metadata: {name: b, uid: o}}")
	s.operator(owned("Service", "spec: {ports: [{name: memcached, port: 1}]}")).request("watch", "services", 200)
	s.request("get", "deployments", 404).user(mc("spec: {size: 2}"))
	s.operator(owned("Service", "spec: {ports: [{name: memcached, port: 2}, {name: metrics, port: 3}]}"))
	last := len(s.Entries) - 1
	tests := map[string]struct {
		lines int
		want  string
	}{
		"all of it": {20, `rule: what
  00:00:02.000 user: create Memcached a (version 1)
  00:00:03.000 == a step
  00:00:05.000 operator of 00:00:01.000: create Service a (version 4)
  00:00:07.000 operator of 00:00:01.000: get deployments 404 Not Found
  00:00:08.000 user: change Memcached a (version 7)
      spec.size: 1 -> 2
  00:00:09.000 operator of 00:00:01.000: change Service a (version 8)
      spec.ports[memcached].port: 1 -> 2
      spec.ports[metrics]: nothing -> {"name":"metrics","port":3}
`},
		"its end": {1, `rule: what
  … 5 entries before
  00:00:09.000 operator of 00:00:01.000: change Service a (version 8)
      spec.ports[memcached].port: 1 -> 2
      spec.ports[metrics]: nothing -> {"name":"metrics","port":3}
`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Explain(s.History, Violation{Rule: "rule", Entry: last, What: "what"}, tc.lines)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("explanation (-want +got):\n%s", diff)
			}
		})
	}
}
