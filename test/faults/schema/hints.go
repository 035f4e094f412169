package schema

import (
	_ "embed" // hints.yaml
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed hints.yaml
var hintsFile []byte

// hint is an entry of hints.yaml.
type hint struct {
	Field  string `json:"field"` // a regular expression for paths
	Values []any  `json:"values"`
	Always bool   `json:"always"`

	pattern *regexp.Regexp
}

var hints = readHints()

func readHints() (hints []hint) {
	if err := yaml.UnmarshalStrict(hintsFile, &hints); err != nil {
		panic(err) // The file has an error.
	}
	for i := range hints {
		hints[i].pattern = regexp.MustCompile(hints[i].Field)
	}
	return hints
}

// hint returns a value for a field from hints.yaml. The result is false if the value should come from the schema
// instead. This is so in one of eight cases and, in a wild draw, for each hint without Always. But if d has values from
// CEL rules (d.clues), the spec is to violate a rule. Then hint returns a value half of the time, for any hint: the API
// server refuses the spec, so it cannot overload the cluster.
func (d *draw) hint(f *Field) (any, bool) {
	for _, h := range hints {
		if !h.pattern.MatchString(f.Path) {
			continue
		}
		usual := h.Always || !d.wild && d.IntN(8) > 0
		if d.clues != nil {
			usual = d.IntN(2) == 0
		}
		if usual {
			return copied(pick(d, h.Values)), true
		}
		return nil, false
	}
	return nil, false
}

// copied returns a copy of a value, which the caller may change.
func copied(value any) any { return decoded([]byte(encoded(value))) }

// isQuantity reports whether the values of a field are quantities of resources.
func (f *Field) isQuantity() bool { return f.XIntOrString && strings.Contains(f.Pattern, "[KMGTPE]i") }
