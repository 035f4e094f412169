package schema

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Field is a field of the spec, an item of a list, or a value of a map.
type Field struct {
	// Path is the path of the field, such as spec.rollout.maxSurge. spec.extraArgs[] is an item of a list, and
	// spec.service.metadata.labels{} is a value of a map.
	Path string

	apiextensionsv1.JSONSchemaProps

	parent   *Field
	children []*Field // sorted by name
}

func newField(path string, props apiextensionsv1.JSONSchemaProps, parent *Field) *Field {
	f := &Field{Path: path, JSONSchemaProps: props, parent: parent}
	for _, name := range slices.Sorted(maps.Keys(props.Properties)) {
		f.children = append(f.children, newField(path+"."+name, props.Properties[name], f))
	}
	if props.Items != nil && props.Items.Schema != nil {
		f.children = append(f.children, newField(path+"[]", *props.Items.Schema, f))
	}
	if props.AdditionalProperties != nil && props.AdditionalProperties.Schema != nil {
		f.children = append(f.children, newField(path+"{}", *props.AdditionalProperties.Schema, f))
	}
	return f
}

// below returns the fields inside a field, at all depths.
func (f *Field) below() (fields []*Field) {
	for _, child := range f.children {
		fields = append(append(fields, child), child.below()...)
	}
	return fields
}

// Name is the last part of the path.
func (f *Field) Name() string { return f.Path[strings.LastIndex(f.Path, ".")+1:] }

// IsLeaf reports whether no field is inside this field.
func (f *Field) IsLeaf() bool { return len(f.children) == 0 }

// isSettable reports whether a merge patch can set the field: it is no part of a list, and no value of a map.
func (f *Field) isSettable() bool { return !strings.ContainsAny(f.Path, "[{") }

func (f *Field) isList() bool { return f.Type == "array" }
func (f *Field) isMap() bool  { return f.AdditionalProperties != nil }

// isRequired reports whether the parent is invalid without the field.
func (f *Field) isRequired() bool {
	return f.parent != nil && slices.Contains(f.parent.Required, f.Name())
}

// isSet reports whether the order of a list has no meaning, and no item may be repeated.
func (f *Field) isSet() bool { return f.isList() && f.XListType != nil && *f.XListType != "atomic" }

// contains reports whether the other field is this field, or inside this field.
func (f *Field) contains(other *Field) bool {
	for ; other != nil; other = other.parent {
		if other == f {
			return true
		}
	}
	return false
}

// inside returns the field with this name inside this field, or nil.
func (f *Field) inside(name string) *Field {
	for _, child := range f.children {
		if f.isMap() || child.Name() == name {
			return child
		}
	}
	return nil
}

// Set returns the paths of the fields that a spec sets.
func (s *Schema) Set(spec map[string]any) map[string]bool {
	set := map[string]bool{}
	s.spec.mark(spec, set)
	return set
}

func (f *Field) mark(value any, set map[string]bool) {
	set[f.Path] = true
	switch value := value.(type) {
	case map[string]any:
		for name, inside := range value {
			if child := f.inside(name); child != nil {
				child.mark(inside, set)
			}
		}
	case []any:
		for _, inside := range value {
			if len(f.children) == 1 {
				f.children[0].mark(inside, set)
			}
		}
	}
}
