// Package apply is the only writer of children. It applies what differs, by server-side apply, and never
// touches an object that belongs to somebody else.
package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// Client is what applying needs of a client.
type Client interface {
	Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error
	Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error
}

// Syncer applies children.
type Syncer struct {
	client Client

	// live reads past the cache, which holds only objects with our labels.
	live client.Reader

	schemas schemas
}

// NewSyncer returns a Syncer that writes by the client, and looks at foreign objects by the live reader.
func NewSyncer(writer Client, live client.Reader, scheme *runtime.Scheme) *Syncer {
	return &Syncer{client: writer, live: live, schemas: newSchemas(scheme)}
}

// Sync makes the children what they are to be. A child that fails or is refused does not keep the others from
// being applied; the errors of all are returned together.
func (s *Syncer) Sync(
	ctx context.Context, mc *cachev1.Memcached, snapshot observe.Snapshot, objects []render.Object,
) (Report, error) {
	var report Report
	var errs []error
	add := func(outcome Outcome, kind string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %q: %w", kind, mc.Name, err))
			return
		}
		outcome.Name = mc.Name
		report = append(report, outcome)
	}
	for _, object := range objects {
		outcome, err := s.syncOne(ctx, mc, snapshot.Children[object.GroupKind], object)
		outcome.GroupKind = object.GroupKind
		add(outcome, object.Kind, err)
	}
	for _, child := range unwanted(mc, snapshot, objects) {
		outcome, err := s.remove(ctx, child.object)
		outcome.GroupKind = child.kind
		add(outcome, child.kind.Kind, err)
	}
	return report, errors.Join(errs...)
}

func (s *Syncer) syncOne(
	ctx context.Context, mc *cachev1.Memcached, live client.Object, object render.Object,
) (Outcome, error) {
	if err := stamp(object); err != nil {
		return Outcome{}, err
	}
	if live == nil {
		return s.create(ctx, mc, object)
	}
	if !metav1.IsControlledBy(live, mc) {
		return s.adoptOrRefuse(ctx, mc, live, object)
	}
	if !live.GetDeletionTimestamp().IsZero() {
		// It can't be kept any more. Its end is an event that brings us back.
		return Outcome{Verdict: Unchanged}, nil
	}
	fields, err := s.schemas.differences(live, object)
	if err != nil || len(fields) == 0 {
		return Outcome{Verdict: Unchanged}, err
	}
	return s.update(ctx, live.GetUID(), fields, object)
}

// update applies over an object that is ours. Its uid goes along: should it have been replaced meanwhile, the
// API server refuses.
func (s *Syncer) update(ctx context.Context, uid types.UID, fields []string, object render.Object) (Outcome, error) {
	object.Metadata.WithUID(uid)
	err := s.client.Apply(ctx, object.Configuration, client.FieldOwner(names.FieldOwner), client.ForceOwnership)
	if slices.Contains(refusedFields(err), "spec.selector") {
		return refuse(object, "has another selector, which can not be changed", "delete it, and it is made anew"), nil
	}
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Verdict: Updated, Fields: fields, Generation: answeredGeneration(object)}, nil
}

// create applies an object that must not exist yet. Server-side apply has no such condition of its own, but it
// compares resource versions where one is given, and only with an object that is there: with one that no object
// has, it creates or refuses. Somebody else's object is thus never touched, not even for a moment.
func (s *Syncer) create(ctx context.Context, mc *cachev1.Memcached, object render.Object) (Outcome, error) {
	object.Metadata.WithResourceVersion(noResourceVersion)
	err := s.client.Apply(ctx, object.Configuration, client.FieldOwner(names.FieldOwner))
	object.Metadata.ResourceVersion = nil
	switch {
	case err == nil:
		return Outcome{Verdict: Created, Generation: answeredGeneration(object)}, nil
	case apierrors.IsConflict(err):
		return s.meet(ctx, mc, object, err)
	default:
		return Outcome{}, err
	}
}

// meet looks at the object that stood in the way of a creation.
func (s *Syncer) meet(
	ctx context.Context, mc *cachev1.Memcached, object render.Object, refusal error,
) (Outcome, error) {
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(observe.VersionOf(object.GroupKind))
	err := s.live.Get(ctx, client.ObjectKeyFromObject(mc), found)
	switch {
	case apierrors.IsNotFound(err):
		return Outcome{}, refusal // It went meanwhile; the next pass creates ours.
	case err != nil:
		return Outcome{}, fmt.Errorf("%w (and who owns it can't be read: %w)", refusal, err)
	case metav1.IsControlledBy(found, mc) && selected(found, mc):
		return Outcome{Verdict: Unchanged}, nil // Ours, and the cache is about to show it.
	case metav1.IsControlledBy(found, mc):
		// Ours, and the cache will not show it: its labels, by which the cache selects, were taken away.
		return s.update(ctx, found.GetUID(), []string{".metadata.labels"}, object)
	}
	return s.adoptOrRefuse(ctx, mc, found, object)
}

// selected tells whether an object has the labels by which the cache selects.
func selected(object metav1.Object, mc *cachev1.Memcached) bool {
	return labels.SelectorFromSet(names.Selector(mc.Name)).Matches(labels.Set(object.GetLabels()))
}

// answeredGeneration reads the generation from the API server's answer, which applying leaves in the object.
func answeredGeneration(object render.Object) int64 {
	if object.Metadata.Generation == nil {
		return 0
	}
	return *object.Metadata.Generation
}
