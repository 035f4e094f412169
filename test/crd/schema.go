package crd

import (
	"fmt"
	"reflect"
	"slices"
)

// keyword states how a keyword of a schema may change.
type keyword struct {
	allows func(older, newer any) bool
	why    string // why other changes are refused
}

// keywords are the keywords that may change in some way, or whose change is refused for a specific reason.
var keywords = map[string]keyword{
	"description":   {allows: func(_, _ any) bool { return true }},
	"maximum":       {raised, loosened},
	"maxLength":     {raised, loosened},
	"maxItems":      {raised, loosened},
	"maxProperties": {raised, loosened},
	"minimum":       {lowered, loosened},
	"minLength":     {lowered, loosened},
	"minItems":      {lowered, loosened},
	"minProperties": {lowered, loosened},
	"enum": {
		func(older, newer any) bool { return older != nil && newer != nil && holds(newer, older) },
		"values may only be added, or objects that exist are refused",
	},
	"required": {
		func(older, newer any) bool { return holds(older, newer) },
		"a new field must be optional, or objects that exist are refused",
	},
	"default":                    {never, "objects without the field would change their meaning"},
	"type":                       {never, "objects that exist have the old type"},
	"pattern":                    {never, "existing objects may not match"},
	"x-kubernetes-list-type":     {never, "server-side apply merges and owns by it"},
	"x-kubernetes-list-map-keys": {never, "server-side apply merges and owns by it"},
	"x-kubernetes-map-type":      {never, "server-side apply merges and owns by it"},
	"x-kubernetes-int-or-string": {never, "objects that exist have the old type"},
}

const (
	loosened = "a bound may only be loosened, or objects that exist are refused"
	unknown  = "OLM v1 refuses each change of a schema that it can't judge"
)

func never(_, _ any) bool { return false }

// raised reports whether an upper bound is at least as high as before, or removed.
func raised(older, newer any) bool {
	was, bounded := older.(float64)
	is, stillBounded := newer.(float64)
	return !stillBounded || bounded && is >= was
}

// lowered reports whether a lower bound is at least as low as before, or removed.
func lowered(older, newer any) bool {
	was, bounded := older.(float64)
	is, stillBounded := newer.(float64)
	return !stillBounded || bounded && is <= was
}

// schema compares a field and all below it.
func (c *comparison) schema(path string, older, newer map[string]any) {
	for _, name := range union(older, newer) {
		was, is := older[name], newer[name]
		switch name {
		case "properties":
			c.properties(path, asMap(was), asMap(is))
		case "items":
			c.schema(path+"[]", asMap(was), asMap(is))
		case "x-kubernetes-validations":
			c.validations(path, asList(was), asList(is))
		default:
			c.keyword(path, name, was, is)
		}
	}
}

func (c *comparison) properties(path string, older, newer map[string]any) {
	for _, name := range union(older, nil) {
		field := name
		if path != "" {
			field = path + "." + name
		}
		if newer[name] == nil {
			c.refuse(field, "it", "a field", nil, "objects that have it would lose it")
			continue
		}
		c.schema(field, asMap(older[name]), asMap(newer[name]))
	}
}

func (c *comparison) keyword(path, name string, older, newer any) {
	if reflect.DeepEqual(older, newer) {
		return
	}
	rule, known := keywords[name]
	if !known {
		rule = keyword{never, unknown}
	}
	if !rule.allows(older, newer) {
		c.refuse(path, name, older, newer, rule.why)
	}
}

// validations compares the CEL rules of a field.
func (c *comparison) validations(path string, older, newer []any) {
	if reflect.DeepEqual(older, newer) {
		return
	}
	before := len(c.violations)
	for _, was := range older {
		i := slices.IndexFunc(newer, sameRule(was))
		if i < 0 {
			c.refuse(path, "the CEL rule", asMap(was)["rule"], nil, "OLM v1 refuses a rule's change and removal")
			continue
		}
		c.attributes(path, asMap(was), asMap(newer[i]))
	}
	for _, is := range newer {
		if !slices.ContainsFunc(older, sameRule(is)) {
			c.refuse(path, "the CEL rule", nil, asMap(is)["rule"], "a new rule may refuse objects that exist")
		}
	}
	if len(c.violations) == before {
		c.refuse(path, "the order of CEL rules", older, newer, unknown)
	}
}

// attributes compares all parts of a CEL rule except its expression: message, messageExpression, reason and so on.
func (c *comparison) attributes(path string, older, newer map[string]any) {
	for _, name := range union(older, newer) {
		what := fmt.Sprintf("%s of the CEL rule %q", name, older["rule"])
		c.fixed(path, what, older[name], newer[name], "OLM v1 refuses a rule's change, even of its words")
	}
}

func sameRule(rule any) func(any) bool {
	return func(other any) bool { return asMap(other)["rule"] == asMap(rule)["rule"] }
}

func asMap(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

func asList(value any) []any {
	list, _ := value.([]any)
	return list
}
