// Package model says what may be true of a Memcached and its objects at any time, and finds the first entry of a
// history after which it is not. It knows the API and the documentation, and nothing of the operator's code.
package model

import (
	"slices"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

// Rule is one of the things that must hold.
type Rule struct {
	// Name says what must hold, in a few words: "one owner".
	Name string

	// Promise is the sentence in the documentation.
	Promise string

	// New returns a check of one history. It gets each entry in order, before the past has it, and returns what is
	// wrong after it, or "".
	New func(*past) func(history.Entry) string
}

// Rules returns every rule, in the order of the documentation.
func Rules() []Rule {
	return slices.Concat(
		ownershipRules(),
		deletionRules(),
		rolloutRules(),
		availabilityRules(),
		slotRules(),
		memoryRules(),
		autoscalingRules(),
		discoveryRules(),
		bindingRules(),
		fieldRules(),
		unownedRules(),
		statusRules(),
		restRules(),
		crashRules(),
		convergeRules(),
		clientRules(),
	)
}

// Violation is a rule that does not hold after an entry of a history.
type Violation struct {
	Rule  string `json:"rule"`
	Entry int    `json:"entry"` // its index: the history up to it is the shortest that breaks the rule
	What  string `json:"what"`
}

// Check returns the first violation of each rule that does not hold, the earliest first.
func Check(h *history.History, rules []Rule) []Violation {
	var violations []Violation
	p := newPast(h)
	checks := make([]func(history.Entry) string, len(rules))
	for i, rule := range rules {
		checks[i] = rule.New(p)
	}
	for at, entry := range h.Entries {
		for i, check := range checks {
			if check == nil {
				continue
			}
			if what := check(entry); what != "" {
				violations = append(violations, Violation{Rule: rules[i].Name, Entry: at, What: what})
				checks[i] = nil
			}
		}
		p.add(entry)
	}
	return violations
}
