package model

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smdvalue "sigs.k8s.io/structured-merge-diff/v6/value"
)

// fieldsOf returns the fields in an entry of the managed fields.
func fieldsOf(entry metav1.ManagedFieldsEntry) *fieldpath.Set {
	set := &fieldpath.Set{}
	if entry.FieldsV1 == nil || set.FromJSON(entry.FieldsV1.GetRawReader()) != nil {
		return &fieldpath.Set{}
	}
	return set
}

// ownFields returns the fields that the operator applied.
func ownFields(o *object) *fieldpath.Set {
	set := &fieldpath.Set{}
	for _, entry := range o.GetManagedFields() {
		if entry.Manager == fieldManager && entry.Operation == metav1.ManagedFieldsOperationApply {
			set = set.Union(fieldsOf(entry))
		}
	}
	return set
}

// at returns the value at a path of managed fields; nil if it is not set.
func at(value any, path fieldpath.Path) any {
	for _, element := range path {
		switch {
		case element.FieldName != nil:
			fields, _ := value.(map[string]any)
			value = fields[*element.FieldName]
		case element.Key != nil:
			value = itemWith(value, *element.Key)
		case element.Value != nil:
			value = itemLike(value, (*element.Value).Unstructured())
		default:
			return nil
		}
	}
	return value
}

func itemWith(list any, key smdvalue.FieldList) any {
	items, _ := list.([]any)
	for _, item := range items {
		fields, _ := item.(map[string]any)
		if !slices.ContainsFunc(key, func(field smdvalue.Field) bool {
			return encoded(fields[field.Name]) != encoded(field.Value.Unstructured())
		}) {
			return item
		}
	}
	return nil
}

func itemLike(list, wanted any) any {
	items, _ := list.([]any)
	for _, item := range items {
		if encoded(item) == encoded(wanted) {
			return item
		}
	}
	return nil
}

// valuesOf returns the values of fields by their paths. It omits values that must differ between two caches: names,
// uids, and the operator's annotations.
func valuesOf(o *object, fields *fieldpath.Set) map[string]any {
	values := map[string]any{}
	fields.Iterate(func(path fieldpath.Path) {
		name, value := path.String(), at(o.Object, path)
		if !strings.Contains(name, ".ownerReferences") && !strings.Contains(name, "cache.example.com/") &&
			!isEmptyAffinity(name, value) {
			values[name] = withoutName(unordered("", value), o.GetName())
		}
	})
	return values
}

// isEmptyAffinity reports whether a field is an empty affinity, which means the same as none. Of these two forms, the
// operator keeps the form that a user wrote first.
func isEmptyAffinity(name string, value any) bool {
	object, ok := value.(map[string]any)
	return ok && len(object) == 0 && (strings.HasSuffix(name, "Affinity") || strings.HasSuffix(name, ".affinity"))
}

// withoutName replaces each text that is the name of the Memcached by a text that is the same for all Memcacheds.
func withoutName(value any, name string) any {
	switch value := value.(type) {
	case string:
		if value == name {
			return "the name of the Memcached"
		}
	case map[string]any:
		for field := range value {
			value[field] = withoutName(value[field], name)
		}
	}
	return value
}
