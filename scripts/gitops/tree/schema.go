package tree

import (
	"regexp"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Schemas validate objects as the API server does, by the CustomResourceDefinitions of their kinds. A kind has a
// definition for each supported version of its project. A ConfigMap has the documentation of its keys.
type Schemas struct {
	kinds map[schema.GroupVersionKind][]definition
	keys  map[string][]documented
}

type definition struct {
	by        string // the project and its version
	validator validation.SchemaValidator
	fields    *structural.Structural
}

type documented struct{ by, text string }

func newSchemas() Schemas {
	return Schemas{kinds: map[schema.GroupVersionKind][]definition{}, keys: map[string][]documented{}}
}

// add adds the schemas of a CustomResourceDefinition.
func (s Schemas) add(by string, crd apiextensionsv1.CustomResourceDefinition) error {
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
		s.kinds[kind] = append(s.kinds[kind], definition{by: by, validator: validator, fields: fields})
	}
	return nil
}

// setting matches the part of a key of argocd-cm that Argo CD's documentation has: all but the name of the kind that
// the key is for.
var setting = regexp.MustCompile(`^resource\.customizations\.\w+\.|^.+`)

// Faults returns the fields that the API server would refuse or drop, and the keys of a ConfigMap that its reader would
// ignore. Objects of unknown kinds have no faults.
func (s Schemas) Faults(object *unstructured.Unstructured) (faults []string) {
	for _, d := range s.kinds[object.GroupVersionKind()] {
		for _, err := range validation.ValidateCustomResource(nil, object.Object, d.validator) {
			faults = append(faults, d.by+": "+err.Error())
		}
		options := structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
		for _, path := range pruning.PruneWithOptions(object.DeepCopy().Object, d.fields, true, options) {
			faults = append(faults, d.by+": "+path+": unknown field")
		}
	}
	if object.GetKind() != "ConfigMap" {
		return faults
	}
	data, _, _ := unstructured.NestedStringMap(object.Object, "data")
	for _, d := range s.keys[object.GetName()] {
		for key := range data {
			line := `\n +(# ?)?` + regexp.QuoteMeta(setting.FindString(key+":"))
			if !regexp.MustCompile(line).MatchString(d.text) {
				faults = append(faults, d.by+": unknown setting "+key)
			}
		}
	}
	slices.Sort(faults)
	return faults
}
