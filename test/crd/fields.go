package crd

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// Field is a field of the API, with its Go type and its schema in the CRD. Tests, OLM's descriptors and the
// documentation of each field are derived from these two.
type Field struct {
	Path   string // such as spec.rollout.maxSurge; spec.extraArgs[] is an item of a list
	Type   reflect.Type
	Schema apiextensionsv1.JSONSchemaProps
}

// Fields lists the fields of spec and status in the order of their Go types, each after its parent. A field with a type
// of Kubernetes, such as an affinity, is listed without the fields inside it.
func Fields(root string) ([]Field, error) {
	files, err := filepath.Glob(filepath.Join(root, "operator/config/crd/bases/*_memcacheds.yaml"))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("want one file in operator/config/crd/bases, found %v: %w", files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		return nil, err
	}
	definition := apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(content, &definition); err != nil {
		return nil, fmt.Errorf("%s: %w", files[0], err)
	}
	schema := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
	var fields []Field
	for _, part := range []Field{
		{"spec", reflect.TypeFor[cachev1.MemcachedSpec](), schema.Properties["spec"]},
		{"status", reflect.TypeFor[cachev1.MemcachedStatus](), schema.Properties["status"]},
	} {
		fields = append(fields, part.below()...)
	}
	return fields, nil
}

// below lists the fields inside a field.
func (f Field) below() (fields []Field) {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if strings.HasPrefix(t.PkgPath(), "k8s.io/") {
		return nil
	}
	var parts []Field
	if t.Kind() == reflect.Slice {
		parts = append(parts, Field{f.Path + "[]", t.Elem(), *f.Schema.Items.Schema})
	}
	if t.Kind() == reflect.Struct {
		for field := range t.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" { // The type is inlined, so its fields are fields of f.
				fields = append(fields, Field{f.Path, field.Type, f.Schema}.below()...)
				continue
			}
			parts = append(parts, Field{f.Path + "." + name, field.Type, f.Schema.Properties[name]})
		}
	}
	for _, child := range parts {
		fields = append(append(fields, child), child.below()...)
	}
	return fields
}

// SettableFields returns the fields of spec that can be set one by one. It omits items of lists, and objects, except
// objects that switch something on even if they are empty.
func SettableFields(root string) ([]Field, error) {
	fields, err := Fields(root)
	return slices.DeleteFunc(fields, func(f Field) bool {
		return !strings.HasPrefix(f.Path, "spec.") || strings.Contains(f.Path, "[]") ||
			f.isObject() && !f.isSwitch()
	}), err
}

// isSwitch reports whether the field is an object that switches something on even if it is empty. The comment of such a
// field says that it defaults to none.
func (f Field) isSwitch() bool {
	return f.isObject() && strings.HasPrefix(f.Default(), "none") && len(f.Schema.Required) == 0
}

// isObject reports whether the field has fields of this API.
func (f Field) isObject() bool {
	below := f.below()
	return len(below) > 0 && !strings.HasSuffix(below[0].Path, "[]")
}

// Sentences returns the sentences of the field's comment.
func (f Field) Sentences() []string {
	text := strings.Join(strings.Fields(f.Schema.Description), " ")
	var sentences []string
	for {
		end := strings.Index(text, ". ")
		if end < 0 {
			return append(sentences, text)
		}
		sentences, text = append(sentences, text[:end+1]), text[end+2:]
	}
}

// Meaning is the first sentence of the field's comment without its subject, which is the field's name.
func (f Field) Meaning() string {
	text := f.Sentences()[0]
	name := strings.TrimSuffix(f.Path[strings.LastIndex(f.Path, ".")+1:], "[]")
	for _, subject := range []string{name + " is ", name + " are ", name + " "} {
		if meaning, found := strings.CutPrefix(text, subject); found {
			return strings.ToUpper(meaning[:1]) + meaning[1:]
		}
	}
	return text
}

// Default returns the text after "Defaults to" in the comment, without the period; empty if there is none.
func (f Field) Default() string {
	for _, sentence := range f.Sentences() {
		if value, found := strings.CutPrefix(sentence, "Defaults to "); found {
			return strings.TrimSuffix(value, ".")
		}
	}
	return ""
}

// noPod begins the sentence of a comment which says that a change to the field replaces no Pod.
const noPod = "A change replaces no Pod"

// ReplacesNoPod reports whether the comment of a field, or of an object around the field, says that a change replaces
// no Pod.
func ReplacesNoPod(fields []Field, path string) bool {
	return slices.ContainsFunc(fields, func(f Field) bool {
		isPart := f.Path == path || strings.HasPrefix(path, f.Path+".")
		says := func(sentence string) bool { return strings.HasPrefix(sentence, noPod) }
		return isPart && slices.ContainsFunc(f.Sentences(), says)
	})
}

// everyField has one line for each field that can be set.
//
//go:embed every-field.yaml
var everyField []byte

// EveryField returns a spec in which each field has a value other than its default. Some of these fields exclude each
// other, so use Only to get a valid spec.
func EveryField() (map[string]any, error) {
	object := map[string]any{}
	err := yaml.UnmarshalStrict(everyField, &object)
	spec, _ := object["spec"].(map[string]any)
	return spec, err
}

// Only reduces a spec to the field at the path, the fields that are required with it, and the objects around it that
// switch something on (isSwitch). The second result is the same spec without the field, to compare with.
func Only(fields []Field, spec map[string]any, path string) (with, without map[string]any) {
	return only(fields, "spec", spec, path, true), only(fields, "spec", spec, path, false)
}

func only(fields []Field, at string, values map[string]any, path string, set bool) map[string]any {
	kept := map[string]any{}
	for name, value := range values {
		here := at + "." + name
		object, isObject := value.(map[string]any)
		switch {
		case isObject && strings.HasPrefix(path, here+"."):
			if below := only(fields, here, object, path, set); len(below) > 0 || isSwitch(fields, here) {
				kept[name] = below
			}
		case here == path && set, here != path && required(fields, at, name):
			kept[name] = value
		}
	}
	return kept
}

func isSwitch(fields []Field, path string) bool {
	return slices.ContainsFunc(fields, func(f Field) bool { return f.Path == path && f.isSwitch() })
}

// requiredByRule has the fields that a CEL rule requires, by the object that contains them.
var requiredByRule = map[string]string{"spec.tls": "secretName", "spec.bootstrap.from": "servers"}

func required(fields []Field, path, name string) bool {
	return requiredByRule[path] == name || slices.ContainsFunc(fields, func(f Field) bool {
		return f.Path == path && slices.Contains(f.Schema.Required, name)
	})
}

// Bounds returns the bounds that the schema sets for the field, as text.
func (f Field) Bounds() string {
	s := f.Schema
	var words []string
	if len(s.Enum) > 6 {
		words = append(words, fmt.Sprintf("one of %d values", len(s.Enum)))
	} else {
		for _, value := range s.Enum {
			words = append(words, "`"+strings.Trim(string(value.Raw), `"`)+"`")
		}
	}
	for _, bound := range []struct {
		least, most *int64
		unit        string
	}{
		{whole(s.Minimum), whole(s.Maximum), ""},
		{s.MinLength, s.MaxLength, " characters"},
		{s.MinItems, s.MaxItems, " items"},
		{s.MinProperties, s.MaxProperties, " entries"},
	} {
		switch {
		case bound.least != nil && bound.most != nil:
			words = append(words, fmt.Sprintf("%d to %d%s", *bound.least, *bound.most, bound.unit))
		case bound.most != nil:
			words = append(words, fmt.Sprintf("at most %d%s", *bound.most, bound.unit))
		}
	}
	if s.Items != nil && s.Items.Schema != nil && f.Type.Kind() == reflect.Slice {
		if items := (Field{f.Path + "[]", f.Type.Elem(), *s.Items.Schema}).Bounds(); items != "" {
			words = append(words, "each "+items)
		}
	}
	return strings.Join(words, ", ")
}

func whole(bound *float64) *int64 {
	if bound == nil {
		return nil
	}
	return new(int64(*bound))
}
