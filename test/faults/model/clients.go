package model

import (
	"github.com/example-inc/memcached-operator/internal/testing/consistency"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

func clientRules() []Rule {
	return []Rule{{
		Name:    "no overwritten key",
		Promise: "A server never returns a value that was overwritten before the read of the key began.",
		New:     noOverwrittenKey,
	}}
}

func noOverwrittenKey(p *past) func(history.Entry) string {
	violations, err := consistency.Judge(p.access)
	return func(e history.Entry) string {
		if e.Access != nil && err != nil {
			return err.Error()
		}
		for _, v := range violations {
			if e.Access != nil && *e.Access == v.Read {
				return v.String()
			}
		}
		return ""
	}
}
