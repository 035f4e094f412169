package schema

import (
	"fmt"
	"maps"
	"slices"
)

// replaced returns a copy of a value in which that of a field inside is another. In a list it is that of the first
// item, and in a map that of the first entry.
func (f *Field) replaced(value any, target *Field, by func(any) any) any {
	if f == target {
		return by(value)
	}
	i := slices.IndexFunc(f.children, func(child *Field) bool { return child.contains(target) })
	child := f.children[i]
	switch value := value.(type) {
	case []any:
		if len(value) > 0 {
			items := slices.Clone(value)
			items[0] = child.replaced(items[0], target, by)
			return items
		}
	case map[string]any:
		name := child.Name()
		if f.isMap() && len(value) > 0 {
			name = slices.Sorted(maps.Keys(value))[0]
		}
		object := maps.Clone(value)
		object[name] = child.replaced(object[name], target, by)
		return object
	}
	return value
}

// repeated returns a list with the first item of another one, several times.
func repeated(value any, times int) any {
	if items, ok := value.([]any); ok && len(items) > 0 {
		return slices.Repeat(items[:1], times)
	}
	return value
}

// enlarged returns a map with more entries, whose values are those of another one's first.
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
