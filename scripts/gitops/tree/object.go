package tree

import (
	"cmp"
	"slices"
	"strings"

	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/argoproj/gitops-engine/pkg/sync/resource"
	"github.com/argoproj/gitops-engine/pkg/sync/syncwaves"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example-inc/memcached-operator/scripts/gitops/render"
)

// Object is an object of an Application.
type Object struct {
	render.Object
	// Scope is false where nothing tells whether objects of the kind are in a namespace.
	Scope, Namespaced bool
	// Namespace is where Argo CD puts it: the destination's, if it names none itself.
	Namespace string
	Wave      int
	// Source is the URL of the release that it is from.
	Source string
	// StandIn is an object of which only the name is known.
	StandIn bool
	Images  []string
}

// Is tells whether the object is of a kind, in whichever version.
func (o Object) Is(group, kind string) bool {
	return o.GroupVersionKind().GroupKind() == schema.GroupKind{Group: group, Kind: kind}
}

// Path names it as people do: namespace/name.
func (o Object) Path() string { return strings.TrimPrefix(o.Namespace+"/"+o.GetName(), "/") }

// String is its kind and path.
func (o Object) String() string { return o.GetKind() + " " + o.Path() }

// Key tells two objects of a cluster apart.
func (o Object) Key() string {
	return strings.Join([]string{o.GroupVersionKind().Group, o.GetKind(), o.Namespace, o.GetName()}, "|")
}

// KeptOnPrune tells whether it stays in the cluster when it is removed from Git.
func (o Object) KeptOnPrune() bool { return o.option(common.SyncOptionDisablePrune) }

// KeptOnDelete tells whether it stays in the cluster when its Application is deleted.
func (o Object) KeptOnDelete() bool { return o.option(common.SyncOptionDisableDeletion) }

func (o Object) option(name string) bool {
	return resource.HasAnnotationOption(o.Unstructured, common.AnnotationSyncOptions, name)
}

// objects adds to what is rendered what Argo CD would find out.
func (b *Builder) objects(rendered []render.Object, scopes Scopes, namespace string) []Object {
	objects := make([]Object, 0, len(rendered))
	for _, r := range rendered {
		o := Object{Object: r, Wave: syncwaves.Wave(r.Unstructured), Source: b.URLs[r.File]}
		o.Namespaced, o.Scope = scopes.Namespaced(r.GroupVersionKind())
		if o.Namespaced {
			o.Namespace = cmp.Or(r.GetNamespace(), namespace)
		}
		if o.StandIn = b.Listed && o.Source != ""; o.StandIn {
			o.Images = b.Catalog.Images(o.Source, r.Unstructured)
		} else {
			o.Images = render.Images(r.Object)
		}
		objects = append(objects, o)
	}
	slices.SortStableFunc(objects, compare)
	return objects
}

// first are the kinds that Argo CD applies first within a wave, in its order, as far as they are in any tree here.
var first = []string{
	"Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodDisruptionBudget", "ServiceAccount", "Secret",
	"ConfigMap", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service",
	"DaemonSet", "Deployment", "HorizontalPodAutoscaler", "StatefulSet", "Job", "CronJob", "Ingress",
}

func compare(a, b Object) int {
	return cmp.Or(
		cmp.Compare(a.Wave, b.Wave),
		cmp.Compare(turn(a.GetKind()), turn(b.GetKind())),
		cmp.Compare(a.GetKind(), b.GetKind()),
		cmp.Compare(a.Path(), b.Path()),
	)
}

// turn is the place of a kind in the order within a wave. What Argo CD does not know comes last.
func turn(kind string) int {
	if i := slices.Index(first, kind); i >= 0 {
		return i
	}
	return len(first)
}
