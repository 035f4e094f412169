package check

import (
	"maps"
	"slices"
)

// schema is what of a CustomResourceDefinition tells the fields.
type schema struct {
	Properties map[string]schema
	Items      *schema
}

// kubernetesTypes are fields whose type is Kubernetes' own. People know these as a whole.
var kubernetesTypes = []string{
	"affinity", "conditions", "from", "metricsFrom", "resources", "tolerations", "topologySpreadConstraints",
}

// fields lists the paths of all fields, as descriptors have them: the first element stands for a list's.
func (s schema) fields() (paths []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		paths = append(paths, name)
		if slices.Contains(kubernetesTypes, name) {
			continue
		}
		field, at := s.Properties[name], name
		if field.Items != nil {
			field, at = *field.Items, name+"[0]"
		}
		for _, path := range field.fields() {
			paths = append(paths, at+"."+path)
		}
	}
	return paths
}

func (c *crd) schemaOf(version string) schema {
	for _, v := range c.Spec.Versions {
		if v.Name == version {
			return v.Schema.OpenAPIV3Schema
		}
	}
	return schema{}
}
