package verify

import (
	"fmt"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

const keepRemedy = "annotate it with argocd.argoproj.io/sync-options: Prune=false,Delete=false"

// keep: what takes caches with it when it goes stays, whatever is removed from Git.
func keep(s subject) {
	cached := s.cacheNamespaces()
	for app, o := range s.Objects() {
		reason := s.reason(o, cached)
		if reason != "" && (!o.KeptOnPrune() || !o.KeptOnDelete()) {
			s.fail(at(o), app.Name, fmt.Sprintf("%s goes when it is removed from Git or its Application is deleted, and %s",
				o, reason), keepRemedy)
		}
	}
}

// reason tells what would go with the object. It is empty where the object may go.
func (s subject) reason(o tree.Object, cached map[string]bool) string {
	switch {
	case o.Is("apiextensions.k8s.io", "CustomResourceDefinition"):
		return "every object of its kind with it"
	case o.Is("", "Namespace") && cached[o.GetName()]:
		return "the caches in it with it"
	case o.Is(tree.OLMv1, "ClusterExtension") && s.builder.Installs(o):
		return "its CRD and all caches with it"
	}
	return ""
}

// cacheNamespaces are those that objects of the operator's kinds are in.
func (s subject) cacheNamespaces() map[string]bool {
	found := map[string]bool{}
	for _, o := range s.Objects() {
		for _, kind := range s.builder.Operator {
			if o.Is(kind.Group, kind.Kind) {
				found[o.Namespace] = true
			}
		}
	}
	return found
}
