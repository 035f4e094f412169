package drift

// Finds values in objects, and the values that other clients set instead of the operator's.

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// place is a value in an object, with its path.
type place struct {
	value   any
	path    fieldpath.Path
	pointer string // a JSON pointer
}

func (p place) field(name string) (place, bool) {
	object, _ := p.value.(map[string]any)
	content, found := object[name]
	escaped := strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	return place{content, append(p.path.Copy(), fieldpath.FieldNameElement(name)), p.pointer + "/" + escaped}, found
}

// items returns the items of a list, identified by the keys of the given names.
func (p place) items(keys []string) []place {
	list, _ := p.value.([]any)
	items := make([]place, 0, len(list))
	for i, content := range list {
		key := fieldpath.KeyElement(fieldsOf(content, keys)...)
		items = append(items, place{content, append(p.path.Copy(), key), p.pointer + "/" + strconv.Itoa(i)})
	}
	return items
}

func fieldsOf(item any, names []string) []value.Field {
	var fields []value.Field
	object, _ := item.(map[string]any)
	for _, name := range names {
		if content, found := object[name]; found {
			fields = append(fields, value.Field{Name: name, Value: value.NewValueInterface(content)})
		}
	}
	return fields
}

// find returns the value at a path of fields and keyed list items. It does not look for items in other lists, which are
// compared and owned as a whole.
func find(object any, path fieldpath.Path) (place, bool) {
	here := place{value: object}
	for _, element := range path {
		var found bool
		switch {
		case element.FieldName != nil:
			here, found = here.field(*element.FieldName)
		case element.Key != nil:
			here, found = here.item(element)
		}
		if !found {
			return place{}, false
		}
	}
	return here, true
}

func (p place) item(key fieldpath.PathElement) (place, bool) {
	for _, item := range p.items(keysOf(key)) {
		if item.path[len(item.path)-1].Equals(key) {
			return item, true
		}
	}
	return place{}, false
}

func keysOf(element fieldpath.PathElement) []string {
	var keys []string
	for _, field := range *element.Key {
		keys = append(keys, field.Name)
	}
	return keys
}

// replacement finds a list item of the operator whose key another client changed. The changed item has the name of the
// missing item. Names are unique in these lists, so the operator's item cannot be added next to the changed one.
func replacement(actual, expected map[string]any, path fieldpath.Path) (place, bool) {
	last := path[len(path)-1]
	if last.Key == nil || slices.Contains(keysOf(last), "name") {
		return place{}, false
	}
	missing, _ := find(expected, path)
	name, named := missing.field("name")
	list, found := find(actual, path[:len(path)-1])
	if !named || !found {
		return place{}, false
	}
	for _, item := range list.items(keysOf(last)) {
		if its, _ := item.field("name"); its.value == name.value {
			return item, true
		}
	}
	return place{}, false
}

// rivals are fields that another client can set instead of a field of the operator. The API server rejects an object
// that has both.
var rivals = map[string]string{"maxUnavailable": "minAvailable"}

// rival finds the field that another client set instead of a missing field of the operator.
func rival(actual map[string]any, path fieldpath.Path) (place, bool) {
	last := path[len(path)-1].FieldName
	if last == nil || rivals[*last] == "" {
		return place{}, false
	}
	parent, found := find(actual, path[:len(path)-1])
	if !found {
		return place{}, false
	}
	return parent.field(rivals[*last])
}

// Replacements returns the JSON pointers of values that replaced the operator's: list items whose keys another client
// changed, and fields that exclude one of the operator's. Server-side apply would keep both, which the API server
// rejects. Later list items come first, so that they can be removed one after another.
func Replacements(live Object, desired any, changed *fieldpath.Set) ([]string, error) {
	actual, expected, err := contents(live, desired)
	if err != nil {
		return nil, err
	}
	var replacements []string
	for _, path := range topmost(actual, changed) {
		if _, found := find(actual, path); found {
			continue
		}
		if item, found := replacement(actual, expected, path); found {
			replacements = append(replacements, item.pointer)
		}
		if field, found := rival(actual, path); found {
			replacements = append(replacements, field.pointer)
		}
	}
	slices.SortFunc(replacements, byLast)
	return replacements, nil
}

// byLast orders JSON pointers so that later list items come first: /ports/10 before /ports/9.
func byLast(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(b, a)) }
