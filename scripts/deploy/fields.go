package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fieldChange is one field whose value in the cluster differs from the wanted one.
// A nil side means that the field is not there.
type fieldChange struct {
	Path string `json:"path"`
	From any    `json:"from"`
	To   any    `json:"to"`
}

// String shows the change as people read it: .spec.replicas: 3 -> 1.
func (c fieldChange) String() string {
	return fmt.Sprintf("%s: %s -> %s", c.Path, show(c.From), show(c.To))
}

// show keeps a value on one line, and the line on the screen.
func show(value any) string {
	if value == nil {
		return "(none)"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	const longest = 120
	if runes := []rune(string(text)); len(runes) > longest {
		return string(runes[:longest]) + "..."
	}
	return string(text)
}

// changedFields compares a live object with what the API server would make of it,
// leaving out what the server keeps for itself.
func changedFields(live, wanted *unstructured.Unstructured) []fieldChange {
	return compareMaps("", stripped(live), stripped(wanted))
}

func stripped(o *unstructured.Unstructured) map[string]any {
	content := o.DeepCopy().Object
	delete(content, "status")
	for _, field := range []string{"managedFields", "resourceVersion", "generation", "creationTimestamp", "uid"} {
		unstructured.RemoveNestedField(content, "metadata", field)
	}
	return content
}

func compare(path string, from, to any) []fieldChange {
	switch from := from.(type) {
	case map[string]any:
		if to, ok := to.(map[string]any); ok {
			return compareMaps(path, from, to)
		}
	case []any:
		if to, ok := to.([]any); ok {
			return compareLists(path, from, to)
		}
	}
	if equality.Semantic.DeepEqual(from, to) {
		return nil
	}
	return []fieldChange{{Path: path, From: from, To: to}}
}

func compareMaps(path string, from, to map[string]any) []fieldChange {
	var changes []fieldChange
	for _, key := range sortedKeys(from, to) {
		changes = append(changes, compare(path+step(key), from[key], to[key])...)
	}
	return changes
}

// compareLists pairs the items by name where all have one, as containers, variables and
// volumes do, so that an item put in front does not look like a change of all the others.
func compareLists(path string, from, to []any) []fieldChange {
	fromNamed, ok1 := byName(from)
	toNamed, ok2 := byName(to)
	if !ok1 || !ok2 {
		return compareByIndex(path, from, to)
	}
	var changes []fieldChange
	for _, name := range sortedKeys(fromNamed, toNamed) {
		item := fmt.Sprintf("%s[name=%q]", path, name)
		changes = append(changes, compare(item, fromNamed[name], toNamed[name])...)
	}
	return changes
}

func compareByIndex(path string, from, to []any) []fieldChange {
	var changes []fieldChange
	for i := range max(len(from), len(to)) {
		changes = append(changes, compare(fmt.Sprintf("%s[%d]", path, i), at(from, i), at(to, i))...)
	}
	return changes
}

// byName indexes a list by the names of its items, and declines when one has none or
// two have the same.
func byName(list []any) (map[string]any, bool) {
	named := make(map[string]any, len(list))
	for _, item := range list {
		m, _ := item.(map[string]any)
		name, ok := m["name"].(string)
		if _, taken := named[name]; !ok || taken {
			return nil, false
		}
		named[name] = item
	}
	return named, true
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func sortedKeys(a, b map[string]any) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// step is one step down a path; keys such as app.kubernetes.io/name need quotes.
func step(key string) string {
	if strings.ContainsAny(key, "./") {
		return fmt.Sprintf("[%q]", key)
	}
	return "." + key
}
