package schema

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
)

// attempts is how many specs are drawn at most until one is valid, or violates the schema in a certain way. Most fields
// need one or two attempts. Some need hundreds: for example, to draw an invalid spec that has credentials, but not the
// bucket for which they are used.
const attempts = 4000

// Valid returns a spec that the API server accepts. The spec sets this field and the fields that are required with it,
// and sometimes more fields in the same part of the spec. Valid returns nil if it finds no such spec.
func (s *Schema) Valid(r *rand.Rand, f *Field) map[string]any {
	for range attempts {
		d := &draw{Rand: r, target: f, wild: r.IntN(5) == 0}
		if spec := d.object(s.spec); s.Set(spec)[f.Path] && len(s.Validate(spec)) == 0 {
			return spec
		}
	}
	return nil
}

// Spec returns a whole spec that the API server accepts.
func (s *Schema) Spec(r *rand.Rand) map[string]any {
	for range attempts {
		d := &draw{Rand: r, wild: r.IntN(5) == 0}
		if spec := d.object(s.spec); len(s.Validate(spec)) == 0 {
			return spec
		}
	}
	return map[string]any{}
}

// draw draws the values of one spec.
type draw struct {
	*rand.Rand

	target *Field // the field that must be set; nil draws a whole spec
	wild   bool   // draw values from the schema instead of hints.yaml, except where they could overload the cluster
	clues  []any  // some values and keys are drawn from these, if there are any
}

// object returns a value for f with its required fields, the field that is or contains the target, and a fifth of the
// other fields. At the top level of the spec, it sets these other fields only if d draws a whole spec.
func (d *draw) object(f *Field) map[string]any {
	object := map[string]any{}
	for _, child := range f.children {
		also := d.IntN(5) == 0 && (f.parent != nil || d.target == nil)
		if child.isRequired() || d.leadsTo(child) || also {
			object[child.Name()] = d.value(child)
		}
	}
	return object
}

func (d *draw) leadsTo(f *Field) bool { return f.contains(d.target) }

func (d *draw) value(f *Field) any {
	if clue := d.clue(); f.fits(clue) {
		return clue
	}
	if value, ok := d.hint(f); ok {
		return value
	}
	switch {
	case len(f.Enum) > 0:
		return decoded(pick(d, f.Enum).Raw)
	case f.XIntOrString:
		return d.intOrString(f)
	case f.isMap():
		return d.entries(f)
	}
	switch f.Type {
	case "object":
		return d.object(f)
	case "array":
		return d.list(f)
	case "boolean":
		return d.IntN(2) == 0
	case "integer":
		return d.integer(f)
	case "number":
		return float64(d.integer(f)) + 0.5
	}
	return d.text(f)
}

// list returns a list with few items, or sometimes with as many as are allowed. If the list is a set, no item occurs
// twice.
func (d *draw) list(f *Field) []any {
	if len(f.children) == 0 {
		return []any{}
	}
	item, items := f.children[0], []any{}
	for range d.number(f.MinItems, f.MaxItems, d.leadsTo(item)) {
		items = append(items, d.value(item))
	}
	if f.isSet() {
		items = f.unique(items)
	}
	return items
}

// unique removes each item that is the same as an earlier item, or that has the same keys if the schema names keys for
// the items.
func (f *Field) unique(items []any) []any {
	seen := map[string]bool{}
	return slices.DeleteFunc(items, func(item any) bool {
		key := item
		if object, ok := item.(map[string]any); ok && len(f.XListMapKeys) > 0 {
			keys := []any{}
			for _, name := range f.XListMapKeys {
				keys = append(keys, object[name])
			}
			key = keys
		}
		text := encoded(key)
		again := seen[text]
		seen[text] = true
		return again
	})
}

// keys are the keys from which entries of maps are drawn: names of labels, annotations and resources.
var keys = []string{"team", "example.com/contact", "tier", "cpu", "memory"}

func (d *draw) entries(f *Field) map[string]any {
	entries, value := map[string]any{}, (*Field)(nil)
	if len(f.children) > 0 {
		value = f.children[0]
	}
	for i := range d.number(f.MinProperties, f.MaxProperties, d.leadsTo(value)) {
		key := pick(d, keys)
		if i >= len(keys) {
			key = "example.com/" + letters(i-len(keys)+1)
		}
		if clue, ok := d.clue().(string); ok {
			key = clue
		}
		if entries[key] = any("x"); value != nil {
			entries[key] = d.value(value)
		}
	}
	return entries
}

// number returns a number of items or entries. It is small, or sometimes as large as is allowed.
func (d *draw) number(least, most *int64, some bool) int {
	from, to := 0, 64
	if least != nil {
		from = int(*least)
	}
	if most != nil {
		to = int(*most)
	}
	if some {
		from = max(from, 1)
	}
	if d.wild && d.IntN(8) == 0 {
		return to
	}
	return max(from, min(to, from+d.IntN(3)))
}

func pick[V any](d *draw, from []V) V { return from[d.IntN(len(from))] }

func decoded(content []byte) (value any) {
	if err := json.Unmarshal(content, &value); err != nil {
		panic(err) // The API server refuses a CRD with such a value.
	}
	if number, ok := value.(float64); ok && number == float64(int64(number)) {
		return int64(number)
	}
	return value
}

func encoded(value any) string {
	content, err := json.Marshal(value)
	if err != nil {
		panic(err) // The value came from JSON, so it can be encoded.
	}
	return string(content)
}
