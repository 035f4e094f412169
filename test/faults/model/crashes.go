package model

import (
	"strings"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

func crashRules() []Rule {
	return []Rule{{
		Name:    "no panic",
		Promise: "The operator never panics, neither in a reconciliation nor in another goroutine.",
		New:     noPanic,
	}}
}

// goPanics is how a Go program ends after a panic or a fatal error of the runtime. The operator's own errors end it
// with status 1, and faults by signals.
const goPanics = "exit status 2"

func noPanic(*past) func(history.Entry) string {
	return func(e history.Entry) string {
		ended := strings.HasPrefix(e.Step, history.EndedByItself) && strings.HasSuffix(e.Step, goPanics)
		logged := strings.HasPrefix(e.Step, history.Logged) && strings.Contains(e.Step, history.Panic)
		if ended || logged {
			return e.Step
		}
		return ""
	}
}
