package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// differences describes how two values differ: each text has the path of a field, and both values.
func differences(path string, before, after any) []string {
	if encoded(before) == encoded(after) {
		return nil
	}
	b, beforeIsObject := before.(map[string]any)
	a, afterIsObject := after.(map[string]any)
	if beforeIsObject && afterIsObject {
		var found []string
		for _, name := range slices.Sorted(maps.Keys(merged(b, a))) {
			found = append(found, differences(path+"."+name, b[name], a[name])...)
		}
		return found
	}
	bs, beforeIsList := before.([]any)
	as, afterIsList := after.([]any)
	if beforeIsList && afterIsList {
		b, a := byName(bs), byName(as)
		var found []string
		for _, name := range slices.Sorted(maps.Keys(merged(b, a))) {
			found = append(found, differences(path+"["+name+"]", b[name], a[name])...)
		}
		return found
	}
	return []string{fmt.Sprintf("%s: %s -> %s", strings.TrimPrefix(path, "."), shown(before), shown(after))}
}

func merged(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// byName returns the items of a list as a map. The key of an item is its name or type, or else its index.
func byName(list []any) map[string]any {
	items := map[string]any{}
	for i, item := range list {
		fields, _ := item.(map[string]any)
		name, _ := cmp.Or(fields["name"], fields["type"]).(string)
		if _, taken := items[name]; taken || name == "" {
			name = fmt.Sprint(i)
		}
		items[name] = item
	}
	return items
}

const longestShown = 120

func shown(value any) string {
	if value == nil {
		return "nothing"
	}
	text := encoded(value)
	if len(text) > longestShown {
		return text[:longestShown] + "…"
	}
	return text
}

// firstDifference describes the first difference, in one line.
func firstDifference(before, after any) string {
	found := differences("", before, after)
	switch len(found) {
	case 0:
		return "no difference"
	case 1:
		return found[0]
	}
	return fmt.Sprintf("%s, and %d more", found[0], len(found)-1)
}
