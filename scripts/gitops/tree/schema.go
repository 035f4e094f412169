package tree

import (
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Schemas validate objects of the kinds that CustomResourceDefinitions define, like the API server.
type Schemas map[schema.GroupVersionKind]definition

type definition struct {
	validator validation.SchemaValidator
	fields    *structural.Structural
}

// add adds the schemas of a CustomResourceDefinition.
func (s Schemas) add(crd apiextensionsv1.CustomResourceDefinition) error {
	for _, version := range crd.Spec.Versions {
		var props apiextensions.JSONSchemaProps
		err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
			version.Schema.OpenAPIV3Schema, &props, nil)
		if err != nil {
			return err
		}
		validator, _, err := validation.NewSchemaValidator(&props)
		if err != nil {
			return err
		}
		fields, err := structural.NewStructural(&props)
		if err != nil {
			return err
		}
		kind := schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}
		s[kind] = definition{validator: validator, fields: fields}
	}
	return nil
}

// Faults are the fields that the API server would refuse or drop. Objects of unknown kinds have none.
func (s Schemas) Faults(object *unstructured.Unstructured) []string {
	d, known := s[object.GroupVersionKind()]
	if !known {
		return nil
	}
	var faults []string
	for _, err := range validation.ValidateCustomResource(nil, object.Object, d.validator) {
		faults = append(faults, err.Error())
	}
	options := structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	for _, path := range pruning.PruneWithOptions(object.DeepCopy().Object, d.fields, true, options) {
		faults = append(faults, path+": unknown field")
	}
	slices.Sort(faults)
	return faults
}
