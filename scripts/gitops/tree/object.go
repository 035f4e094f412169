package tree

import (
	"cmp"
	"slices"
	"strings"

	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/argoproj/gitops-engine/pkg/sync/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Groups of the kinds of OLM, v0 and v1.
const (
	OLM   = "operators.coreos.com"
	OLMv1 = "olm.operatorframework.io"
)

// Object is an object that kustomize prints.
type Object struct {
	*unstructured.Unstructured
	// File is the path, from the root of the repository, of the file that has the object. Patches in other files may have
	// changed the object.
	File   string
	Wave   int
	Images []string
	// Known and Namespaced are set in a Tree. Known is whether the kind's scope is known. Namespaced is that scope:
	// whether objects of the kind are in namespaces.
	Known, Namespaced bool
	// Namespace is the namespace in which Argo CD applies the object: if the object names none, the namespace of the
	// destination.
	Namespace string
	// Source is the URL of the release that has the object. It is empty for an object of this repository.
	Source string
}

// Place returns the object's file, or the URL of the release that has the object.
func (o Object) Place() string { return cmp.Or(o.Source, o.File) }

// Is reports whether the object is of a kind, in any version.
func (o Object) Is(group, kind string) bool {
	return o.GroupVersionKind().GroupKind() == schema.GroupKind{Group: group, Kind: kind}
}

// Path returns namespace/name, or only the name of an object without a namespace.
func (o Object) Path() string { return strings.TrimPrefix(o.Namespace+"/"+o.GetName(), "/") }

// String returns the kind and the path.
func (o Object) String() string { return o.GetKind() + " " + o.Path() }

// Key returns a text that identifies the object in a cluster.
func (o Object) Key() string {
	return strings.Join([]string{o.GetKind(), o.GroupVersionKind().Group, o.Namespace, o.GetName()}, "|")
}

// Text returns the string at a path in the object. It is empty if the object has no string there.
func (o Object) Text(path ...string) string {
	text, _, _ := unstructured.NestedString(o.Object, path...)
	return text
}

// Keep returns the deletions that the object survives: its removal from Git ("prune"), the deletion of its Application
// ("delete").
func (o Object) Keep() (keep []string) {
	for _, option := range []struct{ name, reason string }{
		{common.SyncOptionDisablePrune, "prune"}, {common.SyncOptionDisableDeletion, "delete"},
	} {
		if resource.HasAnnotationOption(o.Unstructured, common.AnnotationSyncOptions, option.name) {
			keep = append(keep, option.reason)
		}
	}
	return keep
}

// complete sets the fields that depend on the tree, such as Namespace, and sorts the objects in the order in which Argo
// CD applies them.
func (b *Builder) complete(t *Tree, rendered []Object, namespace string) []Object {
	objects := slices.Clone(rendered)
	for i := range objects {
		o := &objects[i]
		bringer, known := t.Bringer(o.GroupVersionKind())
		o.Source, o.Known, o.Namespaced, o.Namespace = b.urls[o.File], known, bringer.Namespaced, ""
		if o.Namespaced {
			o.Namespace = cmp.Or(o.GetNamespace(), namespace)
		}
	}
	slices.SortStableFunc(objects, func(a, b Object) int {
		return cmp.Or(
			cmp.Compare(a.Wave, b.Wave), cmp.Compare(rankOf(a.GetKind()), rankOf(b.GetKind())),
			cmp.Compare(a.GetKind(), b.GetKind()), cmp.Compare(a.Path(), b.Path()),
		)
	})
	return objects
}

// first are the kinds in this tree that Argo CD applies before all others within a wave, in Argo CD's order.
var first = []string{
	"Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodDisruptionBudget", "ServiceAccount", "Secret",
	"ConfigMap", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service",
	"DaemonSet", "Deployment", "HorizontalPodAutoscaler", "StatefulSet", "Job", "CronJob", "Ingress",
}

// rankOf returns the place of a kind in the order of first. Kinds that are not in first come last.
func rankOf(kind string) int {
	if i := slices.Index(first, kind); i >= 0 {
		return i
	}
	return len(first)
}
