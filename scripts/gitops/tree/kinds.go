package tree

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Bringer is the object or the program that defines a kind in the cluster.
type Bringer struct {
	Namespaced bool
	// Given is the program that defines the kind before the tree is applied, if there is one.
	Given string
	// App and Object are set if an object of the tree defines the kind: Object is that object, and App the Application
	// that has it.
	App    *App
	Object Object
	// Itself is set if the object is the CustomResourceDefinition of the kind. Otherwise the object makes OLM install that
	// definition, some time after the sync.
	Itself bool
}

// Every cluster that the tree can be applied to has these.
const kubernetes, argoCD = "Kubernetes", "Argo CD"

// bringers returns the Bringers of all kinds except those of Kubernetes.
func (b *Builder) bringers(t *Tree) map[schema.GroupKind]Bringer {
	found := map[schema.GroupKind]Bringer{}
	add := func(bringer Bringer, kinds ...Kind) {
		for _, k := range kinds {
			bringer.Namespaced = k.Namespaced
			found[schema.GroupKind{Group: k.Group, Kind: k.Kind}] = bringer
		}
	}
	add(Bringer{}, b.Operator...) // these kinds are known even if no object defines them
	for _, given := range b.Catalog.Given {
		if len(given.Methods) == 0 || slices.Contains(given.Methods, t.Method) {
			add(Bringer{Given: given.By}, given.Kinds...)
		}
	}
	for app, object := range t.Objects() {
		if kind, defines := defined(object.Unstructured); defines {
			add(Bringer{App: app, Object: object, Itself: true}, kind)
		}
		if b.Installs(object) {
			add(Bringer{App: app, Object: object}, b.Operator...)
		}
	}
	return found
}

// Bringer returns the object or program that defines a kind in the cluster, if it is known.
func (t *Tree) Bringer(kind schema.GroupVersionKind) (bringer Bringer, known bool) {
	if bringer, known = t.bringers[kind.GroupKind()]; known {
		return bringer, true
	}
	// kustomize does not know the newest versions of some kinds of Kubernetes, but all versions of a kind have the same
	// scope.
	for _, version := range []string{kind.Version, "v1", "v2", "v1beta1"} {
		apiVersion := strings.TrimPrefix(kind.Group+"/"+version, "/")
		namespaced, known := openapi.IsNamespaceScoped(yaml.TypeMeta{APIVersion: apiVersion, Kind: kind.Kind})
		if known {
			return Bringer{Namespaced: namespaced, Given: kubernetes}, true
		}
	}
	return Bringer{}, false
}

// Needs returns the kinds that the cluster must have, such as "PodMonitor of Prometheus Operator".
func (t *Tree) Needs() []string {
	needs := sets.New[string]()
	for _, object := range t.Objects() {
		by, known := t.Bringer(object.GroupVersionKind())
		if known && by.App == nil && by.Given != kubernetes && by.Given != argoCD {
			needs.Insert(object.GetKind() + " of " + by.Given)
		}
	}
	return sets.List(needs)
}

// Installs reports whether the object makes OLM install the operator.
func (b *Builder) Installs(o Object) bool {
	return o.Is(OLM, "Subscription") && o.Text("spec", "name") == b.Package ||
		o.Is(OLMv1, "ClusterExtension") && o.Text("spec", "source", "catalog", "packageName") == b.Package
}
