package drift

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// place is a value in an object, and where it lies there.
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

// items are those of a list, by their keys, which have the given names.
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

// find follows a path. It knows what is in our paths: fields, and list items by their keys. Other lists are compared,
// and owned, as a whole.
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

// stray finds the list item that was ours until somebody changed its key: it has the name of one that is gone. Names
// are unique in these lists, so ours can't come back beside it.
func stray(there, here map[string]any, path fieldpath.Path) (place, bool) {
	last := path[len(path)-1]
	if last.Key == nil || slices.Contains(keysOf(last), "name") {
		return place{}, false
	}
	gone, _ := find(here, path)
	name, named := gone.field("name")
	list, found := find(there, path[:len(path)-1])
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

// rivals are fields that another client can set in the place of one of ours, and that the API server refuses beside it.
var rivals = map[string]string{"maxUnavailable": "minAvailable"}

// rival finds what another client set in the place of a field of ours that is gone.
func rival(there map[string]any, path fieldpath.Path) (place, bool) {
	last := path[len(path)-1].FieldName
	if last == nil || rivals[*last] == "" {
		return place{}, false
	}
	parent, found := find(there, path[:len(path)-1])
	if !found {
		return place{}, false
	}
	return parent.field(rivals[*last])
}

// Strays are the JSON pointers of what took the place of ours: list items that were ours until somebody changed their
// keys, and fields that exclude one of ours. Server-side apply would leave them beside ours, and the API server refuses
// that. The last of a list comes first, so that they can be removed one after another.
func Strays(live Object, wanted any, changed *fieldpath.Set) ([]string, error) {
	there, here, err := contents(live, wanted)
	if err != nil {
		return nil, err
	}
	var strays []string
	for _, path := range topmost(there, changed) {
		if _, found := find(there, path); found {
			continue
		}
		if item, found := stray(there, here, path); found {
			strays = append(strays, item.pointer)
		}
		if field, found := rival(there, path); found {
			strays = append(strays, field.pointer)
		}
	}
	slices.SortFunc(strays, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(b, a)) // /ports/10 before /ports/9
	})
	return strays, nil
}
