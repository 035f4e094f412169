package model

import (
	"fmt"
	"testing"
)

// shared is a Service with a label of another client, and one that the operator applied.
func shared(other, own string) string {
	return fmt.Sprintf(`{kind: Service, metadata: {name: a, uid: Service, labels: {other: %s, own: %s},
  annotations: {cache.example.com/applied-hash: h}, managedFields: [
    {manager: kubectl, operation: Update, fieldsV1: {"f:metadata": {"f:labels": {"f:other": {}, "f:own": {}}}}},
    {manager: memcached-operator, operation: Apply, fieldsV1: {"f:metadata": {"f:labels": {"f:own": {}}}}}]}}`, other, own)
}

func TestFieldsOfOthersStay(t *testing.T) {
	ruleTest{
		rule: "unowned fields stay",
		keeps: map[string]func(*tale){
			"the operator's own":     func(s *tale) { s.user(shared("x", "x")).operator(shared("x", "y")) },
			"another client's write": func(s *tale) { s.user(shared("x", "x")).user(shared("y", "y")) },
			"a field of an earlier operator": func(s *tale) {
				s.user(loose("Service", `labels: {x: x}, managedFields: [{manager: manager, operation: Update, fieldsV1: {"f:metadata": {"f:labels": {"f:x": {}}}}}]`))
				s.operator(loose("Service", ""))
			},
		},
		breaks: map[string]func(*tale){
			"another value": func(s *tale) { s.user(shared("x", "x")).operator(shared("y", "x")) },
			"removed":       func(s *tale) { s.user(shared("x", "x")).operator(shared("null", "x")) },
		},
	}.run(t)
}

func TestTheSelectorStays(t *testing.T) {
	selecting := func(labels string) string {
		return owned("Deployment", "spec: {selector: {matchLabels: {"+labels+"}}}")
	}
	right := "app: memcached, memcached_cr: a"
	ruleTest{
		rule: "the selector stays",
		keeps: map[string]func(*tale){
			"the right one":        func(s *tale) { s.operator(selecting(right), selecting(right)) },
			"another Deployment's": func(s *tale) { s.user(selecting("app: other")) },
		},
		breaks: map[string]func(*tale){
			"the wrong one": func(s *tale) { s.operator(selecting("app: memcached")) },
			"another one":   func(s *tale) { s.operator(selecting(right)).user(selecting("app: other")) },
		},
	}.run(t)
}

func TestNothingOfASecretIsWritten(t *testing.T) {
	ruleTest{
		rule: "no secrets",
		keeps: map[string]func(*tale){
			"the name of a Secret":       func(s *tale) { s.user(mc("")).reports(mc("status: {endpoint: users}")) },
			"another client is careless": func(s *tale) { s.user(mc("status: {endpoint: do-not-show}")) },
		},
		breaks: map[string]func(*tale){
			"a status": func(s *tale) { s.user(mc("")).reports(mc("status: {endpoint: 'password: do-not-show'}")) },
		},
	}.run(t)
}
