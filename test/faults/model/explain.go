package model

import (
	"fmt"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

// Explain prints a violation, and the end of the history up to it, without what happened to other caches.
func Explain(h *history.History, v Violation, lines int) string {
	text := fmt.Sprintf("%s: %s\n", v.Rule, v.What)
	from := max(0, v.Entry+1-lines)
	for _, entry := range h.Entries[from : v.Entry+1] {
		text += "  " + entry.String() + "\n"
	}
	return text
}
