// Package model says what may be true of a Memcached and its objects at any time, and finds the first entry of a
// history after which it is not. It knows the API and the documentation, and nothing of the operator's code.
package model

import (
	"fmt"
	"slices"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

// Rule is one of the things that must hold.
type Rule struct {
	// Name says what must hold, in a few words: "one owner".
	Name string

	// Promise is the sentence in the documentation.
	Promise string

	// New returns a check of one history. It gets each entry in order, and returns what is wrong after it, or "".
	New func(*history.History) func(history.Entry) string
}

// Rules returns every rule, in the order of the documentation.
func Rules() []Rule {
	return slices.Concat(statusRules())
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
	for _, rule := range rules {
		check := rule.New(h)
		for i, entry := range h.Entries {
			if what := check(entry); what != "" {
				violations = append(violations, Violation{Rule: rule.Name, Entry: i, What: what})
				break
			}
		}
	}
	slices.SortStableFunc(violations, func(a, b Violation) int { return a.Entry - b.Entry })
	return violations
}

// Explain prints a violation, and the end of the history up to it, without what happened to other caches.
func Explain(h *history.History, v Violation, lines int) string {
	text := fmt.Sprintf("%s: %s\n", v.Rule, v.What)
	from := max(0, v.Entry+1-lines)
	for _, entry := range h.Entries[from : v.Entry+1] {
		text += "  " + entry.String() + "\n"
	}
	return text
}
