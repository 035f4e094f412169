package argo

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// owner of what is applied. It is nobody else's: an apply takes away what its owner applied before and leaves out now.
const owner = client.FieldOwner("memcached-operator-demo")

// Conflict is a field that somebody else has set to another value.
type Conflict struct {
	Object string // kind and name
	Fields []string
	cause  error
}

func (c *Conflict) Error() string { return fmt.Sprintf("%s: %s", c.Object, c.cause) }

func (c *Conflict) Unwrap() error { return c.cause }

// Apply applies objects, and takes no field away from anybody: that is a Conflict. It ends at the first error.
func Apply(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if err := apply(ctx, c, object); err != nil {
			return err
		}
	}
	return nil
}

// Try asks the API server what an Apply would meet, all of it, and changes nothing.
func Try(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	var errs []error
	for _, object := range objects {
		errs = append(errs, apply(ctx, c, object, client.DryRunAll))
	}
	return errors.Join(errs...)
}

func apply(
	ctx context.Context, c client.Client, object *unstructured.Unstructured, options ...client.ApplyOption,
) error {
	name := object.GetKind() + " " + object.GetName()
	// The answer is written into what is applied.
	err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), append(options, owner)...)
	switch {
	case apierrors.IsConflict(err):
		return &Conflict{Object: name, Fields: fieldsOf(err), cause: err}
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// fieldsOf are the fields that a conflict is about, each with whoever set it.
func fieldsOf(conflict error) (fields []string) {
	var status apierrors.APIStatus
	if !errors.As(conflict, &status) || status.Status().Details == nil {
		return nil
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			fields = append(fields, cause.Field+" ("+cause.Message+")")
		}
	}
	return fields
}

// Refresh makes Argo CD look at Git now.
func Refresh(ctx context.Context, c client.Client, namespace, name string) error {
	application := &metav1.PartialObjectMetadata{}
	application.SetGroupVersionKind(ApplicationKind)
	application.Namespace, application.Name = namespace, name
	patch := []byte(`{"metadata":{"annotations":{"argocd.argoproj.io/refresh":"normal"}}}`)
	return c.Patch(ctx, application, client.RawPatch(types.MergePatchType, patch))
}
