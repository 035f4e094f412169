package schema

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Respell returns a spec with the same meaning in another form: with sets in another order, quantities in other units,
// defaults added or omitted, and empty objects added or omitted. No such change replaces a Pod
// (docs/memcached/updates.md).
func (s *Schema) Respell(r *rand.Rand, spec map[string]any) map[string]any {
	d := &draw{Rand: r}
	respelled, _ := d.respell(s.spec, spec).(map[string]any)
	for _, f := range s.fields {
		if f.isSettable() && d.IntN(3) == 0 {
			if other := respellAbsence(respelled, f); other != nil && len(s.Validate(other)) == 0 {
				respelled = other
			}
		}
	}
	return respelled
}

func (d *draw) respell(f *Field, value any) any {
	switch value := value.(type) {
	case []any:
		items := slices.Clone(value)
		for i := range items {
			items[i] = d.respell(f.children[0], items[i])
		}
		if f.isUnordered() {
			d.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		}
		return items
	case map[string]any:
		object := maps.Clone(value)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if inside := f.inside(name); inside != nil {
				object[name] = d.respell(inside, object[name])
			}
		}
		return object
	}
	if f.isQuantity() {
		return d.respellQuantity(value)
	}
	return value
}

// isUnordered reports whether the order of a list has no meaning. The schema does not say so for all lists in the
// placement, because their types are Kubernetes' own.
func (f *Field) isUnordered() bool {
	return f.isSet() || f.isList() && strings.HasPrefix(f.Path, "spec.placement.")
}

// respellQuantity writes a quantity in another unit.
func (d *draw) respellQuantity(value any) any {
	quantity, err := resource.ParseQuantity(strings.Trim(encoded(value), `"`))
	if err != nil {
		return value
	}
	spellings := []any{value}
	if amount, whole := quantity.AsInt64(); whole { // AsInt64 must be called before AsDec: after AsDec, it always fails.
		spellings = append(spellings, amount, resource.NewQuantity(amount, resource.BinarySI).String())
		for unit, size := range map[string]int64{"Ki": 1 << 10, "Mi": 1 << 20} {
			if amount%size == 0 {
				spellings = append(spellings, encoded(amount/size)+unit)
			}
		}
	}
	spellings = append(spellings, resource.NewDecimalQuantity(*quantity.AsDec(), resource.DecimalSI).String())
	slices.SortFunc(spellings, func(a, b any) int { return strings.Compare(encoded(a), encoded(b)) })
	return pick(d, spellings)
}

// respellAbsence returns a copy of a spec in which the field's default or empty object is added or removed. It returns
// nil if the field has neither.
func respellAbsence(spec map[string]any, f *Field) map[string]any {
	if f.isTurnedOff(spec) {
		return nil
	}
	same := f.documentedDefault()
	if same == nil && len(f.Properties) > 0 && len(f.Required) == 0 {
		same = map[string]any{}
	}
	if same == nil {
		return nil
	}
	path := strings.Split(strings.TrimPrefix(f.Path, "spec."), ".")
	return exchanged(spec, path, same)
}

// isTurnedOff reports whether adding the field, or an object that contains it, would switch something on. The comment
// of such an object says that it defaults to none.
func (f *Field) isTurnedOff(spec map[string]any) bool {
	turnsOn := len(f.Properties) > 0 && strings.Contains(f.Description, "Defaults to none")
	if f.parent == nil || f.parent.parent == nil {
		return turnsOn
	}
	_, isOn := spec[strings.Split(f.Path, ".")[1]]
	return turnsOn || f.parent.isTurnedOff(spec) && !isOn
}

// exchanged returns a copy of an object. If the object has no value at the path, the copy has this value. If it already
// has this value, the copy does not have it. If the object has another value at the path, exchanged returns nil.
func exchanged(object map[string]any, path []string, value any) map[string]any {
	changed := maps.Clone(object)
	before, found := object[path[0]]
	switch {
	case len(path) > 1:
		inside, _ := before.(map[string]any)
		if inside == nil {
			inside = map[string]any{}
		}
		if inside = exchanged(inside, path[1:], value); inside == nil {
			return nil
		}
		changed[path[0]] = inside
	case !found:
		changed[path[0]] = value
	case encoded(before) == encoded(value):
		delete(changed, path[0])
	default:
		return nil
	}
	return changed
}

var defaults = regexp.MustCompile(`Defaults\s+to\s+([^\s,.:]+)[,.:]`)

// documentedDefault returns the default value in the comment of a field, such as "Defaults to 1024". It is nil for a
// comment without a value, such as "Defaults to the default of the cluster".
func (f *Field) documentedDefault() any {
	found := defaults.FindStringSubmatch(f.Description)
	if found == nil || !f.IsLeaf() {
		return nil
	}
	text := found[1]
	isNumber := number.FindString(text) == text
	switch isText := f.Type == "string" && text != "none"; {
	case f.Type == "boolean" || isNumber && (f.Type == "integer" || f.XIntOrString):
		return decoded([]byte(text))
	case isText, f.XIntOrString && number.MatchString(text):
		return text
	}
	return nil
}
