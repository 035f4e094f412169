package schema

import (
	"fmt"
	"maps"
	"slices"
)

// replaced returns a copy of a value of f, in which the function by has changed the target: f itself, or a field inside
// f. In a list or a map, only the first item or entry that sets the target is changed.
func (f *Field) replaced(value any, target *Field, by func(any) any) any {
	if f == target {
		return by(value)
	}
	i := slices.IndexFunc(f.children, func(child *Field) bool { return child.contains(target) })
	child := f.children[i]
	switch value := value.(type) {
	case []any:
		items := slices.Clone(value)
		if i := slices.IndexFunc(items, func(item any) bool { return child.sets(item, target) }); i >= 0 {
			items[i] = child.replaced(items[i], target, by)
		}
		return items
	case map[string]any:
		object := maps.Clone(value)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if f.inside(name) == child && child.sets(object[name], target) {
				object[name] = child.replaced(object[name], target, by)
				break
			}
		}
		return object
	}
	return value
}

// sets reports whether a value of f sets this field inside f.
func (f *Field) sets(value any, inside *Field) bool {
	set := map[string]bool{}
	f.mark(value, set)
	return set[inside.Path]
}

// repeated returns a list that has the first item of the given list this many times.
func repeated(value any, times int) any {
	if items, ok := value.([]any); ok && len(items) > 0 {
		return slices.Repeat(items[:1], times)
	}
	return value
}

// enlarged returns a map with additional entries, whose values are copies of the first value of the given map.
func enlarged(value any, size int) any {
	entries, ok := value.(map[string]any)
	if !ok || len(entries) == 0 {
		return value
	}
	first := entries[slices.Sorted(maps.Keys(entries))[0]]
	larger := maps.Clone(entries)
	for i := range size {
		larger[fmt.Sprintf("example.com/k%d", i)] = first
	}
	return larger
}

func without(value any, name string) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	object = maps.Clone(object)
	delete(object, name)
	return object
}
