package check

import (
	"encoding/json"
	"slices"
	"strings"
)

// apiRules are for what the operator serves.
var apiRules = []rule[*view]{
	{"owned APIs are the CustomResourceDefinitions of the bundle", ownedAPIs},
	{"owned APIs are explained", func(v *view) (broken messages) {
		for _, api := range v.csv.Spec.CustomResourceDefinitions.Owned {
			broken.when(api.DisplayName == "" || api.Description == "", "%s: displayName or description is empty", api.Name)
			broken.when(len(api.Resources) == 0, "%s: resources is empty", api.Name)
		}
		return broken
	}},
	{"each owned API has an example, and each example an API", examples},
	{"each field has a descriptor, and each descriptor a field", descriptors},
}

func ownedAPIs(v *view) (broken messages) {
	owned := v.csv.Spec.CustomResourceDefinitions.Owned
	var served []string
	for _, definition := range v.crds {
		for _, version := range definition.Spec.Versions {
			served = append(served, definition.Metadata.Name+"/"+version.Name+"/"+definition.Spec.Names.Kind)
		}
	}
	var told []string
	for _, api := range owned {
		told = append(told, api.Name+"/"+api.Version+"/"+api.Kind)
	}
	for i, api := range told {
		broken.when(!slices.Contains(served, api), "%s is owned, and not defined in the bundle", api)
		broken.when(slices.Contains(told[:i], api), "%s is owned twice", api)
	}
	for i, api := range served {
		broken.when(!slices.Contains(told, api), "%s is defined, and not owned", api)
		broken.when(slices.Contains(served[:i], api), "%s is defined twice", api)
	}
	broken.when(len(owned) == 0, "no API is owned")
	return broken
}

func examples(v *view) (broken messages) {
	var list []struct{ APIVersion, Kind string }
	if err := json.Unmarshal([]byte(v.annotation("alm-examples")), &list); err != nil {
		return one(true, "alm-examples: %v", err)
	}
	var shown []string
	for _, example := range list {
		shown = append(shown, example.APIVersion+"/"+example.Kind)
	}
	var provided []string
	for _, api := range v.csv.Spec.CustomResourceDefinitions.Owned {
		_, group, _ := strings.Cut(api.Name, ".")
		provided = append(provided, group+"/"+api.Version+"/"+api.Kind)
	}
	for _, api := range provided {
		broken.when(!slices.Contains(shown, api), "%s has no example", api)
	}
	for _, api := range shown {
		broken.when(!slices.Contains(provided, api), "%s has an example, and is not owned", api)
	}
	return broken
}

func descriptors(v *view) (broken messages) {
	for _, api := range v.csv.Spec.CustomResourceDefinitions.Owned {
		i := slices.IndexFunc(v.crds, func(c *crd) bool { return c.Metadata.Name == api.Name })
		if i < 0 {
			continue // Another rule tells of it.
		}
		root := v.crds[i].schemaOf(api.Version)
		var inSpec, inStatus []string
		for _, d := range api.SpecDescriptors {
			inSpec = append(inSpec, d.Path)
			broken.when(d.DisplayName == "" || d.Description == "", "spec.%s: no name or description", d.Path)
		}
		for _, d := range api.StatusDescriptors {
			inStatus = append(inStatus, d.Path)
			broken.when(d.DisplayName == "" || d.Description == "", "status.%s: no name or description", d.Path)
		}
		broken = append(broken, compare("spec", root.Properties["spec"].fields(), inSpec)...)
		broken = append(broken, compare("status", root.Properties["status"].fields(), inStatus)...)
	}
	return broken
}

func compare(part string, fields, described []string) (broken messages) {
	for _, field := range fields {
		broken.when(!slices.Contains(described, field), "%s.%s has no descriptor", part, field)
	}
	for i, path := range described {
		broken.when(!slices.Contains(fields, path), "%s.%s is described, and is no field", part, path)
		broken.when(slices.Contains(described[:i], path), "%s.%s is described twice", part, path)
	}
	return broken
}
