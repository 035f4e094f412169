package migrate

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// values are the values of a release, as helm get values prints them: all of them, or only those that the release sets.
type values struct {
	given    map[string]any
	defaults map[string]any // of the chart, by path; without empty values
	used     map[string]bool
}

//go:embed charts/*.yaml
var charts embed.FS

// readTable reads one of the tables in the folder charts.
func readTable[T any](name string) (map[string]T, error) {
	content, err := charts.ReadFile("charts/" + name + ".yaml")
	if err != nil {
		return nil, err
	}
	var table map[string]T
	return table, unmarshal(content, &table)
}

// unmarshal reads YAML or JSON, and keeps numbers as they are written.
func unmarshal(content []byte, target any) error {
	content, err := yaml.YAMLToJSON(content)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	return decoder.Decode(target)
}

// peek returns the value at a path such as image.tag, or the chart's default. It returns nil if there is neither.
func (v *values) peek(path string) any {
	var value any = v.given
	for key := range strings.SplitSeq(path, ".") {
		parent, _ := value.(map[string]any)
		var given bool
		if value, given = parent[key]; !given {
			return v.defaults[path]
		}
	}
	return value
}

// at is like peek, and marks the value, and all values below it, as translated.
func (v *values) at(path string) any {
	v.used[path] = true
	return v.peek(path)
}

// text returns a scalar as text, in whichever form it is written.
func (v *values) text(path string) string {
	if value := v.at(path); value != nil {
		return fmt.Sprint(value)
	}
	return ""
}

// on returns whether a value is true, and marks it as translated if it is. A value that is not true is reported, unless
// it is the chart's default.
func (v *values) on(path string) bool {
	if fmt.Sprint(v.peek(path)) != "true" {
		return false
	}
	v.used[path] = true
	return true
}

// rest are the values that are neither translated nor the chart's defaults, by their paths.
func (v *values) rest() map[string]any {
	rest := map[string]any{}
	for path, value := range leaves("", v.given) {
		if !v.isUsed(path) && !v.isDefault(path, value) {
			rest[path] = value
		}
	}
	return rest
}

// leaves returns the values below a path that are no maps. It leaves out the values of a feature that is not enabled,
// because they have no effect.
func leaves(path string, value any) map[string]any {
	parent, ok := value.(map[string]any)
	if !ok {
		return map[string]any{path: value}
	}
	if fmt.Sprint(parent["enabled"]) == "false" {
		return map[string]any{path + ".enabled": false}
	}
	all := map[string]any{}
	for key, value := range parent {
		maps.Copy(all, leaves(strings.TrimPrefix(path+"."+key, "."), value))
	}
	return all
}

func (v *values) isUsed(path string) bool {
	_, used := longest(v.used, path)
	return used
}

func (v *values) isDefault(path string, value any) bool {
	standard, ok := v.defaults[path]
	if !ok {
		return slices.Contains([]string{"", "<nil>", "[]", "false", "0"}, fmt.Sprint(value))
	}
	return fmt.Sprint(value) == fmt.Sprint(standard)
}

// longest returns the entry of a table for a path or, if there is none, for the longest beginning of the path that has
// an entry.
func longest[T any](table map[string]T, path string) (entry T, found bool) {
	for {
		if entry, found = table[path]; found {
			return entry, true
		}
		end := strings.LastIndexByte(path, '.')
		if end < 0 {
			return entry, false
		}
		path = path[:end]
	}
}

// short describes a value in a few words. It hides passwords and the content of lists of objects, which must not be in
// logs.
func short(path string, value any) string {
	if strings.HasSuffix(strings.ToLower(path), "password") {
		return "(hidden)"
	}
	switch value := value.(type) {
	case []any:
		return shortList(value)
	case string:
		if value == "" || strings.ContainsAny(value, "\n\t") {
			value = strconv.Quote(value)
		}
		if runes := []rune(value); len(runes) > 60 {
			return string(runes[:60]) + "…"
		}
		return value
	default:
		return fmt.Sprint(value)
	}
}

// shortList returns a list of scalars, the names of objects, or the number of objects.
func shortList(items []any) string {
	var words []string
	for _, item := range items {
		object, isObject := item.(map[string]any)
		if isObject && object["name"] == nil {
			return fmt.Sprintf("(a list of %d)", len(items))
		}
		if isObject {
			item = object["name"]
		}
		words = append(words, fmt.Sprint(item))
	}
	return "[" + strings.Join(words, " ") + "]"
}
