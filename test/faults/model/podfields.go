package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// specField is what the model knows about a field of the spec, from its comment and its type in operator/api/v1.
// specFields omits the fields about which the model knows only that a change replaces the Pods.
type specField struct {
	harmless   bool   // A change replaces no Pod.
	fallback   string // the default, unless it depends on the rest of the spec or on the operator's version
	isQuantity bool   // a quantity, or a map of quantities
	isSet      bool   // a list whose order does not matter
}

// podFields returns the fields of a spec whose change replaces the Pods. It returns the same text for different
// spellings of the same values: a default that is written out, another unit, another order of a set, an empty object.
func podFields(mc *cachev1.Memcached) string {
	spec := plain(mc.Spec)
	if wantsSlots(mc) {
		spec["slots"] = true // The Pods depend only on whether slots are set.
	}
	if keepsPods(mc) && !wantsSlots(mc) {
		delete(spec, "memory")
	}
	if mc.Spec.Discovery != nil {
		spec["discovery"] = true // It has no fields.
	}
	spec["threads"] = threadsOf(mc) // The default depends on the CPUs.
	for path, field := range specFields {
		field.normalize(spec, strings.Split(path, "."))
	}
	leaveOutEmpty(spec)
	return encoded(spec)
}

// normalize removes the field at a path if it has no effect on the Pods, and otherwise gives its value a standard
// spelling.
func (f specField) normalize(object map[string]any, path []string) {
	name := path[0]
	value, isSet := object[name]
	switch below, _ := value.(map[string]any); {
	case !isSet:
	case len(path) > 1:
		f.normalize(below, path[1:])
	case f.harmless, f.fallback != "" && amount(value) == amount(f.fallback):
		delete(object, name)
	case f.isQuantity && below != nil:
		for resource := range below {
			below[resource] = amount(below[resource])
		}
	case f.isQuantity:
		object[name] = amount(value)
	case f.isSet:
		object[name] = sortedSet(value)
	}
}

// leaveOutEmpty removes empty objects, which mean the same as no object. Slots and discovery are exceptions, but
// podFields has replaced them by true.
func leaveOutEmpty(object map[string]any) {
	for _, value := range object {
		if below, ok := value.(map[string]any); ok {
			leaveOutEmpty(below)
		}
	}
	maps.DeleteFunc(object, func(_ string, value any) bool { return isEmpty(value) })
}

func plain(value any) map[string]any {
	fields := map[string]any{}
	_ = json.Unmarshal([]byte(encoded(value)), &fields)
	return fields
}

func encoded(value any) string {
	content, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}

func sortedSet(value any) any {
	list, ok := value.([]any)
	if !ok {
		return value
	}
	var items []string
	for _, item := range list {
		items = append(items, encoded(item))
	}
	slices.Sort(items)
	return items
}

// amount returns the standard spelling of a number or a quantity, and any other value as text.
func amount(value any) string {
	text := fmt.Sprint(value)
	if quantity, err := resource.ParseQuantity(text); err == nil {
		return quantity.AsDec().String()
	}
	return text
}

// ordered are the lists of a Pod template whose order matters.
var ordered = map[string]bool{"args": true, "command": true, "containers": true, "initContainers": true, "env": true}

// canonical encodes a Pod template with its sets in a fixed order, because the operator keeps the order that it finds.
func canonical(template any) string { return encoded(unordered("", template)) }

func unordered(name string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		fields := map[string]any{}
		for name := range value {
			if field := unordered(name, value[name]); field != nil {
				fields[name] = field
			}
		}
		return fields
	case []any:
		items := make([]any, len(value))
		for i := range value {
			items[i] = unordered("", value[i])
		}
		if !ordered[name] {
			return sortedSet(items)
		}
		return items
	}
	return value
}
