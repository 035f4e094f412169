package schema

import (
	"maps"
	"math/rand/v2"
)

// Choose chooses a field. Half of the time, each leaf field is equally likely. Otherwise Choose descends from the top,
// so that each part of the spec is equally likely, although the placement has more fields than all other parts
// together.
func (s *Schema) Choose(r *rand.Rand) *Field {
	if r.IntN(2) == 0 {
		return s.leaves[r.IntN(len(s.leaves))]
	}
	f := s.spec
	for !f.IsLeaf() && (f == s.spec || r.IntN(4) > 0) {
		f = f.children[r.IntN(len(f.children))]
	}
	return f
}

// Merge returns a spec with a JSON merge patch applied.
func Merge(spec, patch map[string]any) map[string]any {
	merged := maps.Clone(spec)
	if merged == nil {
		merged = map[string]any{}
	}
	for name, value := range patch {
		inside, isObject := value.(map[string]any)
		before, _ := merged[name].(map[string]any)
		switch {
		case value == nil:
			delete(merged, name)
		case isObject:
			merged[name] = Merge(before, inside)
		default:
			merged[name] = value
		}
	}
	return merged
}

// Unset removes one of the fields that a spec sets, and returns the result. The number says which field.
func (s *Schema) Unset(spec map[string]any, number int) map[string]any {
	set := s.Set(spec)
	var settable []*Field
	for _, f := range s.fields {
		if set[f.Path] && f.isSettable() {
			settable = append(settable, f)
		}
	}
	if len(settable) == 0 {
		return spec
	}
	f := settable[number%len(settable)]
	unset, _ := s.spec.replaced(spec, f.parent, func(value any) any { return without(value, f.Name()) }).(map[string]any)
	return unset
}

// Several returns a spec that sets up to four fields, and the fields that are required with them.
func (s *Schema) Several(r *rand.Rand) map[string]any {
	spec := s.Valid(r, s.Choose(r))
	for range 1 + r.IntN(3) {
		if more := Merge(spec, s.Valid(r, s.Choose(r))); len(s.Validate(more)) == 0 {
			spec = more
		}
	}
	return spec
}
