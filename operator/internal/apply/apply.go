// Package apply is the only writer of children. It applies what differs, by server-side apply, and never
// touches an object that belongs to somebody else.
package apply

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// Verdict is what became of a child.
type Verdict string

const (
	// Unchanged says that it was as it should be, and no request was made.
	Unchanged Verdict = "unchanged"

	// Created says that it was not there.
	Created Verdict = "created"

	// Updated says that it was ours, and different from what it should be.
	Updated Verdict = "updated"

	// Refused says that it was there and is not ours, and was left as it is.
	Refused Verdict = "refused"
)

// Outcome is what became of one child.
type Outcome struct {
	schema.GroupKind
	Name    string
	Verdict Verdict

	// Fields are the paths that were changed, where the child was updated.
	Fields []string

	// Owner says whose the object is, where it was refused: "Deployment other", or "" for nobody's.
	Owner string

	// Generation is the child's generation after it was written; what is known of an older one is out of date.
	Generation int64
}

// Report is what became of the children, in the order in which they were applied.
type Report []Outcome

// Refused returns the first child that was refused.
func (r Report) Refused() (Outcome, bool) {
	return r.first(Refused)
}

// Generation returns the generation to which a child of the kind was written, or 0 where it was not.
func (r Report) Generation(kind schema.GroupKind) int64 {
	for _, outcome := range r {
		if outcome.GroupKind == kind {
			return outcome.Generation
		}
	}
	return 0
}

func (r Report) first(verdict Verdict) (Outcome, bool) {
	for _, outcome := range r {
		if outcome.Verdict == verdict {
			return outcome, true
		}
	}
	return Outcome{}, false
}

// Client is what applying needs of a client.
type Client interface {
	Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error
}

// Syncer applies children.
type Syncer struct {
	client Client

	// live reads past the cache, which holds only objects with our labels.
	live client.Reader

	converter managedfields.TypeConverter
}

// NewSyncer returns a Syncer that writes by the client, and looks at foreign objects by the live reader.
func NewSyncer(writer Client, live client.Reader, scheme *runtime.Scheme) *Syncer {
	return &Syncer{client: writer, live: live, converter: applyconfigurations.NewTypeConverter(scheme)}
}

// Sync makes the children what they are to be. A child that fails or is refused does not keep the others from
// being applied; the errors of all are returned together.
func (s *Syncer) Sync(
	ctx context.Context, mc *cachev1.Memcached, snapshot observe.Snapshot, objects []render.Object,
) (Report, error) {
	var report Report
	var errs []error
	for _, object := range objects {
		outcome, err := s.syncOne(ctx, mc, snapshot.Children[object.GroupKind], object)
		if err != nil {
			errs = append(errs, fmt.Errorf("apply %s %s: %w", object.Kind, mc.Name, err))
			continue
		}
		outcome.GroupKind, outcome.Name = object.GroupKind, mc.Name
		report = append(report, outcome)
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
		return Outcome{Verdict: Refused, Owner: describeOwner(live)}, nil
	}
	if !live.GetDeletionTimestamp().IsZero() {
		// It can't be kept any more. Its end is an event that brings us back.
		return Outcome{Verdict: Unchanged}, nil
	}
	fields, err := s.differences(live, object)
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
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Verdict: Updated, Fields: fields, Generation: answeredGeneration(object)}, nil
}

// answeredGeneration reads the generation from the API server's answer, which applying leaves in the object.
func answeredGeneration(object render.Object) int64 {
	if object.Metadata.Generation == nil {
		return 0
	}
	return *object.Metadata.Generation
}

// create applies an object that must not exist yet. Server-side apply has no such condition of its own, but it
// compares resource versions where one is given, and only with an object that is there: with one that no object
// has, it creates or refuses. Somebody else's object is thus never touched, not even for a moment.
func (s *Syncer) create(ctx context.Context, mc *cachev1.Memcached, object render.Object) (Outcome, error) {
	object.Metadata.WithResourceVersion(noResourceVersion)
	err := s.client.Apply(ctx, object.Configuration, client.FieldOwner(names.FieldOwner))
	switch {
	case err == nil:
		return Outcome{Verdict: Created, Generation: answeredGeneration(object)}, nil
	case apierrors.IsConflict(err):
		return s.explainRefusal(ctx, mc, object, err)
	default:
		return Outcome{}, err
	}
}

// explainRefusal finds out whose the object is that stood in the way.
func (s *Syncer) explainRefusal(
	ctx context.Context, mc *cachev1.Memcached, object render.Object, refusal error,
) (Outcome, error) {
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(versionOf(object.GroupKind))
	err := s.live.Get(ctx, client.ObjectKeyFromObject(mc), found)
	switch {
	case apierrors.IsNotFound(err):
		// Nothing stood in the way: the API server refuses the object itself.
		return Outcome{}, refusal
	case err != nil:
		return Outcome{}, fmt.Errorf("%w (and who owns it can't be read: %w)", refusal, err)
	case metav1.IsControlledBy(found, mc):
		// Ours, and the cache does not show it: its labels, by which the cache selects, were taken away.
		object.Metadata.ResourceVersion = nil
		return s.update(ctx, found.GetUID(), []string{".metadata.labels"}, object)
	}
	return Outcome{Verdict: Refused, Owner: describeOwner(found)}, nil
}

// describeOwner names the controller of an object, or any other owner it has.
func describeOwner(object metav1.Object) string {
	if controller := metav1.GetControllerOf(object); controller != nil {
		return controller.Kind + " " + controller.Name
	}
	for _, owner := range object.GetOwnerReferences() {
		return owner.Kind + " " + owner.Name
	}
	return ""
}

func versionOf(kind schema.GroupKind) schema.GroupVersionKind {
	for _, known := range observe.Kinds() {
		if known.GroupKind() == kind {
			return known.GroupVersionKind
		}
	}
	return kind.WithVersion("v1")
}
