package model

import (
	"fmt"
	"slices"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

func clientRules() []Rule {
	return []Rule{{
		Name:    "no overwritten key",
		Promise: "A server never returns a value of a key that was overwritten before the read began.",
		New:     noOverwrittenKey,
	}}
}

// noOverwrittenKey works because one client alone writes the keys of a server: a read may return the last value that
// the server acknowledged, any that it did not acknowledge, or nothing. A value without an answer may be stored at any
// later time: it may have been on its way while the network was interrupted.
func noOverwrittenKey(*past) func(history.Entry) string {
	type place struct{ server, key string }
	last := map[place]string{}
	unanswered := map[place][]string{}
	return func(e history.Entry) string {
		a := e.Access
		if a == nil {
			return ""
		}
		at := place{a.Server, a.Key}
		switch {
		case a.Operation == "set" && a.Error == "":
			last[at] = a.Value
		case a.Operation == "set":
			unanswered[at] = append(unanswered[at], a.Value)
		case a.Error != "" || a.Value == "" || a.Value == last[at] || slices.Contains(unanswered[at], a.Value):
		default:
			return fmt.Sprintf("%s returns %q, but %q was stored since", a.Server, a.Value, last[at])
		}
		return ""
	}
}
