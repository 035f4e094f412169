package tree

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example-inc/memcached-operator/scripts/gitops/argo"
	"github.com/example-inc/memcached-operator/scripts/gitops/source"
)

// Existing are the settings for an Argo CD that is there already.
const Existing = "gitops/bootstrap/argocd/existing"

// ArgoCD are Argo CD's settings, as it would read them.
func (b *Builder) ArgoCD(ctx context.Context) (argo.Settings, error) {
	objects, err := b.Render(Existing)
	if err != nil {
		return argo.Settings{}, err
	}
	for _, object := range objects {
		if object.GetKind() == "ConfigMap" && object.GetName() == "argocd-cm" {
			return argo.ReadSettings(ctx, object.Unstructured)
		}
	}
	return argo.Settings{}, fmt.Errorf("%s holds no ConfigMap argocd-cm: Argo CD's settings go there", Existing)
}

// Need is a kind that the cluster brings, and by what.
type Need struct {
	Kind schema.GroupKind
	By   string
}

// Needs are the kinds of a tree that neither it nor Kubernetes nor Argo CD brings.
func (b *Builder) Needs(t *Tree) []Need {
	brought := b.Brought(t)
	var needs []Need
	for _, object := range t.Objects() {
		kind := object.GroupVersionKind().GroupKind()
		by, given := b.given(t.Way, kind)
		if given && brought[kind] == nil && by != kubernetes && by != argoCD {
			needs = append(needs, Need{Kind: kind, By: by})
		}
	}
	slices.SortFunc(needs, func(a, b Need) int {
		return cmp.Or(cmp.Compare(a.By, b.By), cmp.Compare(a.Kind.Kind, b.Kind.Kind))
	})
	return slices.Compact(needs)
}

// What is in every cluster that the tree can come to.
const kubernetes, argoCD = "Kubernetes", "Argo CD"

// given is by what the cluster has a kind before the tree comes.
func (b *Builder) given(way string, kind schema.GroupKind) (by string, found bool) {
	for _, given := range b.Catalog.Given {
		for _, k := range given.Kinds {
			if given.In(way) && k.Group == kind.Group && k.Kind == kind.Kind {
				return given.By, true
			}
		}
	}
	if _, known := (Scopes{}).Namespaced(kind.WithVersion("v1")); known {
		return kubernetes, true
	}
	return "", false
}

// Given tells whether a cluster has a kind before the tree comes.
func (b *Builder) Given(way string, kind schema.GroupKind) bool {
	_, found := b.given(way, kind)
	return found
}

// Bringer is what brings a kind: an object of an Application.
type Bringer struct {
	App    *App
	Object Object
	// Itself: the object is the definition. Else it makes OLM bring it, at some time after the sync.
	Itself bool
}

// Brought are the kinds that the tree brings.
func (b *Builder) Brought(t *Tree) map[schema.GroupKind]*Bringer {
	brought := map[schema.GroupKind]*Bringer{}
	for app, object := range t.Objects() {
		if kind, err := source.Defined(*object.Unstructured); err == nil && kind != nil {
			brought[groupKind(*kind)] = &Bringer{App: app, Object: object, Itself: true}
		}
		if b.Installs(object) {
			for _, kind := range b.Operator {
				brought[groupKind(kind)] = &Bringer{App: app, Object: object}
			}
		}
	}
	return brought
}

func groupKind(k source.Kind) schema.GroupKind { return schema.GroupKind{Group: k.Group, Kind: k.Kind} }
