package integration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/example-inc/memcached-operator/test/crd"
)

// bound is a value at a bound of a field's schema or one beyond it, and what the API server answers to the latter.
type bound struct {
	value any
	want  string // empty: it is accepted
}

// TestEveryBoundOfTheSchemaHolds needs no line for a new field: the cases follow from the CRD.
func TestEveryBoundOfTheSchemaHolds(t *testing.T) {
	fields, err := crd.Fields(repository)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := crd.EveryField()
	if err != nil {
		t.Fatal(err)
	}
	live, tried := liveMemcached(t), 0
	for _, field := range fields {
		path, inSpec := strings.CutPrefix(field.Path, "spec.")
		if !inSpec {
			continue
		}
		settable, _, _ := strings.Cut(field.Path, "[]")
		for _, tc := range boundsOf(field, at(spec, path)) {
			with, _ := crd.Only(fields, set(spec, path, tc.value).(map[string]any), settable)
			for when, err := range try(t, live, with) {
				if tc.want == "" && breaksRule(fields, field, err) { // See breaches.
					continue
				}
				if (tc.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%s: %.80v on %s:\nwant %q\ngot  %v", field.Path, tc.value, when, tc.want, err)
				}
			}
			tried++
		}
	}
	if tried == 0 {
		t.Error("the CRD has no bounds")
	}
}

// breaksRule reports whether a rule over several fields refuses a value that keeps its own bounds.
func breaksRule(fields []crd.Field, field crd.Field, err error) bool {
	return err != nil && slices.ContainsFunc(fields, func(parent crd.Field) bool {
		return strings.HasPrefix(field.Path, parent.Path+".") && slices.ContainsFunc(parent.Schema.XValidations,
			func(rule apiextensionsv1.ValidationRule) bool { return strings.Contains(err.Error(), rule.Message) })
	})
}

// boundsOf are the cases of a field for which the sample is a valid value.
func boundsOf(field crd.Field, sample any) (cases []bound) {
	s, path := field.Schema, strings.ReplaceAll(field.Path, "[]", "[0]")
	allowed := func(value any) { cases = append(cases, bound{value, ""}) }
	refused := func(value any, format string, about ...any) {
		cases = append(cases, bound{value, path + fmt.Sprintf(format, about...)})
	}
	for _, value := range choices(s) {
		allowed(value)
	}
	if len(s.Enum) > 0 {
		refused("Unheard-of", `: Unsupported value: "Unheard-of": supported values: %s`, s.Enum[0].Raw)
	}
	if s.Pattern != "" {
		refused("A B", `: Invalid value: "A B": %s in body should match`, path)
	}
	if s.Minimum != nil {
		allowed(*s.Minimum)
		refused(*s.Minimum-1, " in body should be greater than or equal to %v", *s.Minimum)
	}
	if s.Maximum != nil {
		allowed(*s.Maximum)
		refused(*s.Maximum+1, " in body should be less than or equal to %v", *s.Maximum)
	}
	if s.MinLength != nil {
		allowed(letters(*s.MinLength))
		refused(letters(*s.MinLength-1), " in body should be at least %d chars long", *s.MinLength)
	}
	if s.MaxLength != nil {
		allowed(letters(*s.MaxLength))
		refused(letters(*s.MaxLength+1), ": Too long: may not be more than %d ", *s.MaxLength)
	}
	if s.MaxProperties != nil {
		allowed(entries(sample, *s.MaxProperties))
		refused(entries(sample, *s.MaxProperties+1), ": Too many: %d: must have at most", *s.MaxProperties+1)
	}
	for _, name := range s.Required {
		refused(set(sample, name, nil), ".%s: Required value", name)
	}
	if list, isList := sample.([]any); isList {
		cases = append(cases, boundsOfList(s, path, list[0])...)
	}
	return cases
}

func boundsOfList(s apiextensionsv1.JSONSchemaProps, path string, item any) (cases []bound) {
	if s.MinItems != nil {
		cases = append(cases, bound{[]any{item}, ""},
			bound{[]any{}, fmt.Sprintf("%s in body should have at least %d items", path, *s.MinItems)})
	}
	if s.MaxItems != nil {
		cases = append(cases, bound{items(s, item, *s.MaxItems, true), ""},
			bound{items(s, item, *s.MaxItems+1, false), fmt.Sprintf("%s: Too many: %d: must have at most", path, *s.MaxItems+1)})
	}
	if s.XListType != nil && *s.XListType != "atomic" {
		cases = append(cases, bound{[]any{item, item}, path + "[1]: Duplicate value: "})
	}
	return cases
}

// items are n items of a list. Distinct ones differ where the list forbids duplicates; there are as many as there can be.
func items(s apiextensionsv1.JSONSchemaProps, item any, n int64, distinct bool) (items []any) {
	kind, key := *s.Items.Schema, ""
	if len(s.XListMapKeys) > 0 {
		key = s.XListMapKeys[0]
		kind = kind.Properties[key]
	}
	values := choices(kind)
	for i := range n {
		switch _, isObject := item.(map[string]any); {
		case !distinct, isObject && key == "":
			items = append(items, item)
		case len(values) == 0:
			items = append(items, set(item, key, fmt.Sprintf("a%d", i)))
		case int(i) < len(values):
			items = append(items, set(item, key, values[i]))
		}
	}
	return items
}

func choices(s apiextensionsv1.JSONSchemaProps) (values []any) {
	for _, value := range s.Enum {
		values = append(values, strings.Trim(string(value.Raw), `"`))
	}
	return values
}

func letters(n int64) string { return strings.Repeat("a", int(n)) }

// entries are n entries of a map, which has the sample as a valid value.
func entries(sample any, n int64) map[string]any {
	entries := map[string]any{}
	for _, value := range sample.(map[string]any) {
		for i := range n {
			entries[fmt.Sprintf("example.com/a%d", i)] = value
		}
	}
	return entries
}

// at is the value at a path; an item of a list is the first one.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		name, isItem := strings.CutSuffix(name, "[]")
		if value = value.(map[string]any)[name]; isItem {
			value = value.([]any)[0]
		}
	}
	return value
}

// set returns a copy with another value at a path; nil removes what is there. An item of a list becomes the only one.
func set(value any, path string, to any) any {
	if path == "" {
		return to
	}
	name, rest, _ := strings.Cut(path, ".")
	name, isItem := strings.CutSuffix(name, "[]")
	object := maps.Clone(value.(map[string]any))
	switch {
	case isItem:
		object[name] = []any{set(object[name].([]any)[0], rest, to)}
	case rest == "" && to == nil:
		delete(object, name)
	default:
		object[name] = set(object[name], rest, to)
	}
	return object
}
