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

// goPanics is the exit status of a Go program after a panic or a fatal error of the runtime. After its own errors, the
// operator exits with status 1, and the faults end it by signals.
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
