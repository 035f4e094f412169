package scorecard

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/check"
)

// validated are those of our rules that the scorecard's validators of bundles have too: format, ClusterServiceVersion
// and CustomResourceDefinitions.
var validated = []string{
	"the bundle can be read",
	"the annotations say what the bundle is",
	"the ClusterServiceVersion is one",
	"the name is package and version",
	"the version replaces an older one",
	"annotations are well-formed",
	"manifests are of kinds that every cluster has",
	"service accounts are left to OLM",
	"the bundle is small enough",
	"owned APIs are the CustomResourceDefinitions of the bundle",
	"each install mode is there once, and supported",
	"a conversion webhook serves all namespaces alone",
	"there is something to install",
}

func bundleValidation(files bundle.Files) Result {
	result := Result{State: Pass}
	for _, problem := range check.Bundle(files) {
		if slices.Contains(validated, problem.Rule) {
			result.fail("%s", problem)
		} else {
			result.suggest("%s", problem)
		}
	}
	return result
}

// checkSpec passes without a spec too, as the scorecard's does.
func checkSpec(s *subject, r *Result) {
	if s.unread != nil {
		r.fail("error getting custom resources: %v", s.unread)
		return
	}
	for _, cr := range s.examples {
		if cr.Object["spec"] == nil {
			r.suggest("spec missing from [%s]", cr.GetName())
		}
	}
}

// readable tells whether there are examples to look at.
func (s *subject) readable(r *Result) bool {
	if s.unread != nil {
		r.fail("failed to parse alm-examples annotation: %v", s.unread)
		r.State = Error
	}
	return s.unread == nil
}

func crdsHaveValidation(s *subject, r *Result) {
	if !s.readable(r) {
		return
	}
	for _, cr := range s.examples {
		for _, crd := range s.crds {
			validates(crd, cr, r)
		}
	}
}

func validates(crd apiextensionsv1.CustomResourceDefinition, cr unstructured.Unstructured, r *Result) {
	gvk := cr.GroupVersionKind()
	for _, version := range crd.Spec.Versions {
		if !strings.EqualFold(version.Name, gvk.Version) || !strings.EqualFold(crd.Spec.Names.Kind, gvk.Kind) {
			continue
		}
		if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
			r.suggest("Add CRD validation for %s/%s", crd.Spec.Names.Kind, version.Name)
			continue
		}
		for _, part := range []string{"spec", "status"} {
			known(version.Schema.OpenAPIV3Schema.Properties[part], cr, part, r)
		}
	}
}

// known fails where a part of an example has a field that its schema lacks.
func known(schema apiextensionsv1.JSONSchemaProps, cr unstructured.Unstructured, part string, r *Result) {
	for _, key := range keys(cr, part) {
		if _, found := schema.Properties[key]; !found {
			r.State = Fail
			r.suggest("Add CRD validation for %s field `%s` in %s/%s", part, key, cr.GetKind(), cr.GroupVersionKind().Version)
		}
	}
}

func keys(cr unstructured.Unstructured, part string) []string {
	fields, _ := cr.Object[part].(map[string]any)
	return slices.Sorted(maps.Keys(fields))
}

func crdsHaveResources(s *subject, r *Result) {
	for _, api := range s.owned {
		if len(api.Resources) == 0 {
			r.fail("Owned CRDs do not have resources specified")
			return
		}
	}
}

func specDescriptors(s *subject, r *Result) {
	if !s.readable(r) {
		return
	}
	for _, cr := range s.examples {
		if cr.Object["spec"] == nil {
			r.fail("%s has no spec", cr.GetName())
			continue
		}
		api := s.ownerOf(cr)
		if api == nil {
			r.fail("Failed to find an owned CRD for CR %s with GVK %s", cr.GetName(), cr.GroupVersionKind())
			continue
		}
		for _, key := range keys(cr, "spec") {
			if !slices.Contains(api.SpecDescriptors, struct{ Path string }{key}) {
				r.fail("%s does not have a spec descriptor", key)
				r.suggest("Add a spec descriptor for %s", key)
			}
		}
	}
}

func statusDescriptors(s *subject, r *Result) {
	if !s.readable(r) {
		return
	}
	for _, cr := range s.examples {
		api := s.ownerOf(cr)
		switch {
		case api == nil:
			r.fail("Failed to find an owned CRD for CR %s with GVK %s", cr.GetName(), cr.GroupVersionKind())
		case len(keys(cr, "status")) == 0:
			r.suggest("%s does not have status spec", api.Name)
		case len(api.StatusDescriptors) == 0:
			r.fail("%s does not have a status descriptor", api.Name)
		}
	}
}
