// Package model has the rules that must hold for a Memcached and its objects at any time, and finds the first entry of
// a history that violates a rule. The rules are derived from the API and the documentation, and not from the operator's
// code.
package model

import (
	"slices"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

// Rule is a rule that must hold during a whole run.
type Rule struct {
	// Name says what must hold, in a few words: "one owner".
	Name string

	// Promise is the sentence that states the rule in the documentation.
	Promise string

	// New returns the check of one history. The check is called with each entry in order, before the entry is added to
	// past. It returns the violation after this entry, or "".
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

// Violation is the violation of a rule after an entry of a history.
type Violation struct {
	Rule  string `json:"rule"`
	Entry int    `json:"entry"` // the index of the first entry after which the rule is violated
	What  string `json:"what"`
}

// Check returns the first violation of each violated rule, the earliest one first.
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
