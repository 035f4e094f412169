package apply

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// createdRetry is how long after a creation an object is compared again, if no event triggers that: an admission
// webhook may have changed it. The watch event of the creation itself is ignored.
const createdRetry = 10 * time.Second

// create applies an object that must not exist yet. Server-side apply has no such condition. But if an object with the
// name exists, the API server compares the object's resource version with the one in the request. So a request with a
// resource version that no object has either creates the object or fails, and an unowned object is never changed, not
// even briefly.
//
// A POST would take the API server two thirds of the time. But the API server would record it as an Update of all
// fields, including those that it set by default. So the operator would own all these fields by that Update, and the
// next apply would not remove a field that is no longer desired.
func (s *Syncer) create(ctx context.Context, mc *cachev1.Memcached, object render.Object) (Outcome, error) {
	object.Metadata.WithResourceVersion(noResourceVersion)
	err := s.client.Apply(ctx, object.Configuration, client.FieldOwner(names.FieldOwner))
	if err == nil {
		s.creations.note(object.Metadata)
	}
	object.Metadata.ResourceVersion = nil
	switch {
	case err == nil:
		return Outcome{Result: Created, Generation: answeredGeneration(object), RetryAfter: createdRetry}, nil
	case apierrors.IsConflict(err):
		return s.meet(ctx, mc, object, err)
	default:
		return Outcome{}, err
	}
}

// meet reads the object whose existence made a creation fail, and decides what to do with this object.
func (s *Syncer) meet(
	ctx context.Context, mc *cachev1.Memcached, object render.Object, refusal error,
) (Outcome, error) {
	found := observe.New(object.GroupKind)
	err := s.live.Get(ctx, client.ObjectKey{Namespace: mc.Namespace, Name: *object.Metadata.Name}, found)
	switch {
	case apierrors.IsNotFound(err):
		return Outcome{}, refusal // That object was deleted in the meantime; the next reconciliation creates it.
	case err != nil:
		return Outcome{}, fmt.Errorf("%w (and its owner cannot be read: %w)", refusal, err)
	case isTerminating(found, mc):
		return terminating(found, object), nil
	case metav1.IsControlledBy(found, mc) && selected(object.GroupKind, found, mc):
		return Outcome{Result: Unchanged}, nil // The Memcached owns it, and the cache is about to show it.
	case metav1.IsControlledBy(found, mc):
		// The Memcached owns it, but the cache does not select it, because labels are missing.
		return s.syncOwned(ctx, found, object)
	}
	return s.adoptOrRefuse(ctx, mc, found, object)
}

// selected reports whether an object has the labels by which the cache selects objects.
func selected(kind schema.GroupKind, object metav1.Object, mc *cachev1.Memcached) bool {
	set := labels.Set(object.GetLabels())
	return observe.IsCached(kind, set) && set.Get(names.LabelInstance) == mc.Name
}
