package check

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

var (
	definitionKind = schema.GroupVersionKind{
		Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition",
	}
	namespaceKind    = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	subscriptionKind = schema.GroupVersionKind{Group: "operators.coreos.com", Version: "v1alpha1", Kind: "Subscription"}
	catalogKind      = schema.GroupVersionKind{Group: "operators.coreos.com", Version: "v1alpha1", Kind: "CatalogSource"}
	extensionKind    = schema.GroupVersionKind{Group: "olm.operatorframework.io", Version: "v1", Kind: "ClusterExtension"}
	argoCDKind       = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1beta1", Kind: "ArgoCD"}
)

// find reads what an object is called and marked with, or returns nil if there is none, be it that its kind is unknown.
func (s *Subject) find(
	ctx context.Context, kind schema.GroupVersionKind, namespace, name string,
) (*metav1.PartialObjectMetadata, error) {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kind)
	err := s.Kube.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return object, nil
}

// definition reads a CustomResourceDefinition.
func (s *Subject) definition(ctx context.Context, name string) (*metav1.PartialObjectMetadata, error) {
	return s.find(ctx, definitionKind, "", name)
}

// list lists objects of a kind everywhere, and none of a kind that is unknown.
func (s *Subject) list(
	ctx context.Context, kind schema.GroupVersionKind, options ...client.ListOption,
) ([]metav1.PartialObjectMetadata, error) {
	objects := &metav1.PartialObjectMetadataList{}
	objects.SetGroupVersionKind(kind)
	err := s.Kube.Client.List(ctx, objects, options...)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	return objects.Items, err
}

// trackedBy tells which Application of Argo CD an object belongs to, or nothing. CRDs it can't tell of: Argo CD does
// not mark them.
func trackedBy(object client.Object) string {
	name, _, _ := strings.Cut(object.GetAnnotations()["argocd.argoproj.io/tracking-id"], ":")
	return name
}

// render renders a folder of the tree, with the settings as far as they are known.
func (s *Subject) render(folder string) ([]*unstructured.Unstructured, error) {
	if err := s.Stamp(s.Tree, target.Pushed{}); err != nil {
		return nil, err
	}
	return target.Build(s.Tree, folder)
}
