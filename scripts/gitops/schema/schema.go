// Package schema holds objects against the definitions of their kinds, as the API server does.
package schema

import (
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Schemas are those of the kinds that definitions bring.
type Schemas map[schema.GroupVersionKind]definition

type definition struct {
	validator validation.SchemaValidator
	fields    *structural.Structural
}

// Add adds what a CustomResourceDefinition defines. One without schemas adds nothing.
func (s Schemas) Add(crd *unstructured.Unstructured) error {
	var typed apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(crd.Object, &typed); err != nil {
		return err
	}
	for _, version := range typed.Spec.Versions {
		if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
			continue
		}
		d, err := define(version.Schema.OpenAPIV3Schema)
		if err != nil {
			return fmt.Errorf("%s %s: %w", crd.GetName(), version.Name, err)
		}
		s[schema.GroupVersionKind{
			Group: typed.Spec.Group, Version: version.Name, Kind: typed.Spec.Names.Kind,
		}] = d
	}
	return nil
}

func define(published *apiextensionsv1.JSONSchemaProps) (definition, error) {
	var props apiextensions.JSONSchemaProps
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(published, &props, nil)
	if err != nil {
		return definition{}, err
	}
	validator, _, err := validation.NewSchemaValidator(&props)
	if err != nil {
		return definition{}, err
	}
	fields, err := structural.NewStructural(&props)
	return definition{validator: validator, fields: fields}, err
}

// Faults are what the API server would refuse or drop. Of kinds that are not known there are none.
func (s Schemas) Faults(object *unstructured.Unstructured) []string {
	d, known := s[object.GroupVersionKind()]
	if !known {
		return nil
	}
	var faults []string
	for _, err := range validation.ValidateCustomResource(nil, object.Object, d.validator) {
		faults = append(faults, err.Error())
	}
	unknown := pruning.PruneWithOptions(object.DeepCopy().Object, d.fields, true, structural.UnknownFieldPathOptions{
		TrackUnknownFieldPaths: true,
	})
	for _, path := range unknown {
		faults = append(faults, path+": there is no such field")
	}
	slices.Sort(faults)
	return faults
}
