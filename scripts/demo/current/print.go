package current

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/demo/check"
)

var marks = map[check.Status]string{
	check.Passed: "✓", check.Warning: "!", check.Failed: "✗", check.Skipped: "–",
}

// indent is where the text of a check begins.
const indent = "                         "

func printResult(out io.Writer, r check.Result) {
	fmt.Fprintf(out, "  %s %-20s %s\n", marks[r.Status], r.Name, hang(r.Found))
	if r.Remedy != "" {
		fmt.Fprintf(out, "%s→ %s\n", indent[2:], hang(r.Remedy))
	}
}

// hang puts the lines of a text below each other.
func hang(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+indent)
}

func printJSON(out io.Writer, results []check.Result) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(struct {
		Checks []check.Result `json:"checks"`
		Failed int            `json:"failed"`
	}{results, check.Failures(results)})
}
