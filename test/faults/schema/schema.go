// Package schema makes specs of Memcacheds from the schema of the CRD: valid specs, specs that the API server refuses,
// and other spellings of the same spec. A new field of the CRD needs no change here.
package schema

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// Schema is the schema of the spec.
type Schema struct {
	spec   *Field
	fields []*Field
	leaves []*Field // the fields that contain no other fields

	// These are the parts of the API server's own validation. They validate an object that has only a spec.
	values validation.SchemaValidator
	rules  *cel.Validator
	lists  *structural.Structural
}

// CRD returns the CRD in a copy of the repository.
func CRD(root string) ([]byte, error) {
	files, err := filepath.Glob(filepath.Join(root, "operator/config/crd/bases/*_memcacheds.yaml"))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("want one file in operator/config/crd/bases, found %v: %w", files, err)
	}
	return os.ReadFile(files[0])
}

// Read reads the schema from the CRD in a copy of the repository.
func Read(root string) (*Schema, error) {
	crd, err := CRD(root)
	if err != nil {
		return nil, err
	}
	schema, err := Parse(crd)
	if err != nil {
		return nil, fmt.Errorf("the CRD: %w", err)
	}
	return schema, nil
}

// Parse reads the schema from a CRD in YAML. It uses the schema of the storage version.
func Parse(crd []byte) (*Schema, error) {
	definition := apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(crd, &definition); err != nil {
		return nil, err
	}
	for _, version := range definition.Spec.Versions {
		if version.Storage && version.Schema != nil && version.Schema.OpenAPIV3Schema != nil {
			return newSchema(version.Schema.OpenAPIV3Schema.Properties["spec"])
		}
	}
	return nil, errors.New("no version has a schema and is stored")
}

func newSchema(spec apiextensionsv1.JSONSchemaProps) (*Schema, error) {
	s := &Schema{spec: newField("spec", spec, nil)}
	s.fields = s.spec.below()
	s.leaves = slices.DeleteFunc(slices.Clone(s.fields), func(f *Field) bool { return !f.IsLeaf() })
	object := apiextensionsv1.JSONSchemaProps{
		Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
	}
	props := apiextensions.JSONSchemaProps{}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&object, &props, nil)
	if err != nil {
		return nil, err
	}
	if s.values, _, err = validation.NewSchemaValidator(&props); err != nil {
		return nil, err
	}
	if s.lists, err = structural.NewStructural(&props); err != nil {
		return nil, err
	}
	s.rules = cel.NewValidator(s.lists, false, celconfig.PerCallLimit)
	return s, nil
}

// Validate returns the errors for which the API server would refuse a spec. It evaluates CEL rules only if all values
// are valid.
func (s *Schema) Validate(spec map[string]any) field.ErrorList {
	object := map[string]any{"spec": spec}
	refused := validation.ValidateCustomResource(nil, object, s.values)
	refused = append(refused, listtype.ValidateListSetsAndMaps(nil, s.lists, object)...)
	if len(refused) == 0 && s.rules != nil {
		refused, _ = s.rules.Validate(context.Background(), nil, s.lists, object, nil, celconfig.RuntimeCELCostBudget)
	}
	return refused
}

// Fields returns the fields of the spec, each after its parent, without the spec itself.
func (s *Schema) Fields() []*Field { return s.fields }

// Field returns the field with this path, or nil.
func (s *Schema) Field(path string) *Field {
	for _, f := range s.fields {
		if f.Path == path {
			return f
		}
	}
	return nil
}
