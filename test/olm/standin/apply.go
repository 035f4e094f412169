package standin

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// fieldOwner is the field manager of the stand-in.
const fieldOwner = client.FieldOwner("olm-stand-in")

// Install creates the objects of a bundle. It deletes the objects that only the older version has, as OLM does after an
// upgrade.
func (in Installation) Install(ctx context.Context, c client.Client, older, newer bundle.Files) error {
	objects, err := in.Objects(newer)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := apply(ctx, c, object); err != nil {
			return err
		}
	}
	if older == nil {
		return nil
	}
	return in.remove(ctx, c, older, objects)
}

// Uninstall deletes the objects of a bundle. Caches and the CRD stay, as with OLM.
func (in Installation) Uninstall(ctx context.Context, c client.Client, files bundle.Files) error {
	return in.remove(ctx, c, files, nil)
}

func (in Installation) remove(ctx context.Context, c client.Client, files bundle.Files, kept []client.Object) error {
	objects, err := in.Objects(files)
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, object := range kept {
		keep[identity(object)] = true
	}
	for _, object := range objects {
		if keep[identity(object)] {
			continue
		}
		if err := c.Delete(ctx, object); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("remove %s: %w", identity(object), err)
		}
	}
	return nil
}

func identity(object client.Object) string {
	return fmt.Sprintf("%T %s", object, client.ObjectKeyFromObject(object))
}

func apply(ctx context.Context, c client.Client, object client.Object) error {
	kind, err := c.GroupVersionKindFor(object)
	if err != nil {
		return err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(kind)
	unstructured.RemoveNestedField(content, "status")
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(content, "spec", "template", "metadata", "creationTimestamp")
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), fieldOwner, client.ForceOwnership); err != nil {
		return fmt.Errorf("apply %s: %w", identity(object), err)
	}
	return nil
}
