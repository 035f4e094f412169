package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

// Bootstrap renders what is applied once: settings of Argo CD, the AppProjects and the root Application.
func (p *Pipeline) Bootstrap() ([]*unstructured.Unstructured, error) {
	if err := p.stamp(p.Git.Dir, Images{}); err != nil {
		return nil, err
	}
	settings, err := p.settings()
	if err != nil {
		return nil, err
	}
	root, err := kustomize.Objects(filepath.Join(p.Git.Dir, "gitops/bootstrap", string(p.Method)))
	return append(settings, root...), err
}

// settings are keys of argocd-cm, or of the ArgoCD resource: argocd-operator reverts changes of argocd-cm.
func (p *Pipeline) settings() ([]*unstructured.Unstructured, error) {
	folder := filepath.Join(p.Git.Dir, "gitops/bootstrap/argocd")
	if p.ArgoCDName == "" {
		return kustomize.Objects(filepath.Join(folder, "existing"))
	}
	objects, err := kustomize.Objects(filepath.Join(folder, "openshift"))
	for _, o := range objects {
		if o.GetKind() == ArgoCDKind.Kind {
			o.SetNamespace(p.ArgoCDNamespace)
			o.SetName(p.ArgoCDName)
		}
	}
	return objects, err
}

// ArgoCDKind is the kind that argocd-operator makes an Argo CD of.
var ArgoCDKind = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1beta1", Kind: "ArgoCD"}

func object(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// ApplyRoot applies what Bootstrap renders.
func (p *Pipeline) ApplyRoot(ctx context.Context) error {
	objects, err := p.Bootstrap()
	if err != nil {
		return err
	}
	return p.Apply(ctx, objects)
}

// owner is a field manager of the demo alone, because an apply removes what the same manager applied before.
const owner = client.FieldOwner("memcached-operator-demo")

// Apply applies objects without force, and reports the errors of all of them.
func (p *Pipeline) Apply(
	ctx context.Context, objects []*unstructured.Unstructured, options ...client.ApplyOption,
) error {
	var errs []error
	for _, o := range objects {
		// The client writes the answer into what it applies.
		err := p.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()), append(options, owner)...)
		if err != nil {
			err = fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
