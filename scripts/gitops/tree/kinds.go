package tree

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// namespaced reports whether objects of a kind are in namespaces, by the scopes or by kustomize's schema of Kubernetes.
func namespaced(scopes map[schema.GroupKind]bool, kind schema.GroupVersionKind) (namespaced, known bool) {
	if namespaced, known = scopes[kind.GroupKind()]; known {
		return namespaced, true
	}
	// kustomize does not know the newest versions of some kinds, but a new version changes no scope.
	for _, version := range []string{kind.Version, "v1", "v2", "v1beta1"} {
		apiVersion := strings.TrimPrefix(kind.Group+"/"+version, "/")
		if namespaced, known = openapi.IsNamespaceScoped(yaml.TypeMeta{APIVersion: apiVersion, Kind: kind.Kind}); known {
			return namespaced, true
		}
	}
	return false, false
}

// scopes of the kinds that the tree or the bundle defines, or that the cluster has.
func (b *Builder) scopes(t *Tree) map[schema.GroupKind]bool {
	kinds := slices.Clone(b.Operator)
	for _, given := range b.Catalog.Given {
		if given.in(t.Method) {
			kinds = append(kinds, given.Kinds...)
		}
	}
	for _, app := range t.All() {
		for _, object := range app.Objects {
			if kind, defines := defined(object.Unstructured); defines {
				kinds = append(kinds, kind)
			}
		}
	}
	scopes := map[schema.GroupKind]bool{}
	for _, kind := range kinds {
		scopes[kind.groupKind()] = kind.Namespaced
	}
	return scopes
}

func (g Given) in(method string) bool {
	return len(g.Methods) == 0 || slices.Contains(g.Methods, method)
}

// Need is a kind that the cluster must have, and its project.
type Need struct{ Kind, By string }

// Every cluster that the tree can be applied to has these.
const kubernetes, argoCD = "Kubernetes", "Argo CD"

// Needs are the kinds of a tree that neither it nor Kubernetes nor Argo CD brings.
func (b *Builder) Needs(t *Tree) []Need {
	brought := b.Brought(t)
	var needs []Need
	for _, object := range t.Objects() {
		kind := object.GroupVersionKind().GroupKind()
		if by := b.Given(t.Method, kind); by != "" && by != kubernetes && by != argoCD && brought[kind] == nil {
			needs = append(needs, Need{Kind: kind.Kind, By: by})
		}
	}
	slices.SortFunc(needs, func(a, b Need) int { return cmp.Or(cmp.Compare(a.By, b.By), cmp.Compare(a.Kind, b.Kind)) })
	return slices.Compact(needs)
}

// Given is who brings a kind into the cluster before the tree is applied. It is empty where nobody does.
func (b *Builder) Given(method string, kind schema.GroupKind) string {
	for _, given := range b.Catalog.Given {
		same := func(k Kind) bool { return k.groupKind() == kind }
		if given.in(method) && slices.ContainsFunc(given.Kinds, same) {
			return given.By
		}
	}
	if _, known := namespaced(nil, kind.WithVersion("v1")); known {
		return kubernetes
	}
	return ""
}

// Bringer is the object of an Application that brings a kind.
type Bringer struct {
	App    *App
	Object Object
	// Itself: the object is the definition. Otherwise it makes OLM bring the definition, some time after the sync.
	Itself bool
}

// Brought are the kinds that the tree brings.
func (b *Builder) Brought(t *Tree) map[schema.GroupKind]*Bringer {
	brought := map[schema.GroupKind]*Bringer{}
	for app, object := range t.Objects() {
		if kind, defines := defined(object.Unstructured); defines {
			brought[kind.groupKind()] = &Bringer{App: app, Object: object, Itself: true}
		}
		if b.Installs(object) {
			for _, kind := range b.Operator {
				brought[kind.groupKind()] = &Bringer{App: app, Object: object}
			}
		}
	}
	return brought
}

// Installs reports whether the object makes OLM install the operator.
func (b *Builder) Installs(o Object) bool {
	return o.Is(OLM, "Subscription") && o.Text("spec", "name") == b.Package ||
		o.Is(OLMv1, "ClusterExtension") && o.Text("spec", "source", "catalog", "packageName") == b.Package
}
