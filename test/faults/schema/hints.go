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
	Field  string `json:"field"` // a pattern
	Values []any  `json:"values"`
	Always bool   `json:"always"`

	pattern *regexp.Regexp
}

var hints = readHints()

func readHints() (hints []hint) {
	if err := yaml.UnmarshalStrict(hintsFile, &hints); err != nil {
		panic(err) // A mistake in the file.
	}
	for i := range hints {
		hints[i].pattern = regexp.MustCompile(hints[i].Field)
	}
	return hints
}

// hint returns a value of the table: usually, or rarely where values are to follow from the schema.
func (d *draw) hint(f *Field) (any, bool) {
	for _, h := range hints {
		if !h.pattern.MatchString(f.Path) {
			continue
		}
		if h.Always || !d.wild && d.IntN(8) > 0 {
			return copied(pick(d, h.Values)), true
		}
		return nil, false
	}
	return nil, false
}

// copied allows to change a value.
func copied(value any) any { return decoded([]byte(encoded(value))) }

// isQuantity reports whether the values of a field are quantities of resources.
func (f *Field) isQuantity() bool { return f.XIntOrString && strings.Contains(f.Pattern, "[KMGTPE]i") }
