package schema

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Breach is a way in which the value of a field can violate the schema.
type Breach struct {
	Field *Field
	What  string // "above the maximum"

	// made changes a valid value into an invalid one. It is nil for a CEL rule: then Invalid draws specs until one
	// violates the rule.
	made func(d *draw, value any) any

	rule string // the violated CEL rule
}

// Bounded returns the fields whose schema restricts more than their type.
func (s *Schema) Bounded() []*Field {
	return slices.DeleteFunc(slices.Clone(s.fields), func(f *Field) bool { return len(f.Breaches()) == 0 })
}

// OtherType returns the violation that is possible for every field: a value of another type.
func OtherType(f *Field) Breach {
	return Breach{Field: f, What: "of another type", made: func(*draw, any) any {
		if f.Type == "string" {
			return int64(7)
		}
		return []any{true}
	}}
}

// Breaches returns the ways in which a value can violate the field's schema, except by its type.
func (f *Field) Breaches() (found []Breach) {
	add := func(isBound bool, what string, made func(*draw, any) any) {
		if isBound {
			found = append(found, Breach{Field: f, What: what, made: made})
		}
	}
	to := func(value func() any) func(*draw, any) any { return func(*draw, any) any { return value() } }
	add(f.Minimum != nil, "below the minimum", to(func() any { return int64(*f.Minimum) - 1 }))
	add(f.Maximum != nil, "above the maximum", to(func() any { return int64(*f.Maximum) + 1 }))
	add(len(f.Enum) > 0, "not in the list of values", to(func() any { return "Unheard-of" }))
	add(f.MinLength != nil && *f.MinLength > 0, "too short", to(func() any { return letters(int(*f.MinLength) - 1) }))
	add(f.MaxLength != nil, "too long", to(func() any { return letters(int(*f.MaxLength) + 1) }))
	add(f.Pattern != "", "against the pattern", func(d *draw, _ any) any {
		return pick(d, []string{"A B", "-", "a_", "1.5x"})
	})
	add(formats[f.Format] != "", "not of the format", to(func() any { return "A B" }))
	add(f.MinItems != nil && *f.MinItems > 0, "too few items", to(func() any { return []any{} }))
	add(f.MaxItems != nil, "too many items", func(_ *draw, value any) any { return repeated(value, int(*f.MaxItems)+1) })
	add(f.isSet(), "an item twice", func(_ *draw, value any) any { return repeated(value, 2) })
	add(f.MaxProperties != nil, "too many entries", func(_ *draw, value any) any {
		return enlarged(value, int(*f.MaxProperties)+1)
	})
	for _, name := range f.Required {
		add(true, "without "+name, func(_ *draw, value any) any { return without(value, name) })
	}
	for i, rule := range f.XValidations {
		if strings.Contains(rule.Rule, "oldSelf") {
			continue // The rule compares a spec with the spec before, so no spec alone violates it.
		}
		found = append(found, Breach{Field: f, What: fmt.Sprintf("against rule %d", i+1), rule: rule.Rule})
	}
	return found
}

// Invalid returns a spec that the API server refuses because it violates the schema in this way, or nil if it finds no
// such spec.
func (s *Schema) Invalid(r *rand.Rand, b Breach) map[string]any {
	target := b.Field
	if (target.isList() || target.isMap()) && len(target.children) == 1 {
		target = target.children[0] // The spec must have an item or entry, from which the wrong value is made.
	}
	for range attempts {
		d := &draw{Rand: r, target: target}
		if b.made == nil {
			d.wild, d.clues = true, cluesOf(b.rule)
		}
		spec := d.object(s.spec)
		switch {
		case b.made == nil && s.breaks(spec, b):
			return spec
		case b.made == nil || !s.Set(spec)[target.Path] || len(s.Validate(spec)) > 0:
			continue
		}
		wrong, _ := s.spec.replaced(spec, b.Field, func(value any) any { return b.made(d, value) }).(map[string]any)
		if len(s.Validate(wrong)) > 0 {
			return wrong
		}
	}
	return nil
}

// breaks reports whether a spec violates the CEL rule of b, and nothing else in the schema.
func (s *Schema) breaks(spec map[string]any, b Breach) bool {
	i := slices.IndexFunc(b.Field.XValidations, func(r apiextensionsv1.ValidationRule) bool { return r.Rule == b.rule })
	says := cmp.Or(b.Field.XValidations[i].Message, b.rule)
	if b.Field.XValidations[i].MessageExpression != "" {
		says = "" // The message may be any text.
	}
	refused := s.Validate(spec)
	return len(refused) > 0 && !slices.ContainsFunc(refused, func(reason *field.Error) bool {
		return !strings.Contains(reason.Detail, says)
	})
}
