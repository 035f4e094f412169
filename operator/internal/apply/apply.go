// Package apply is the only writer of children. It applies what differs, by server-side apply, and never
// touches an object that belongs to somebody else.
package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// replacedRetry is how soon a child is tried again that was replaced since it was read. The event that tells of it is
// on its way; this is for the case that it is not.
const replacedRetry = time.Second

// Client is what applying needs of a client.
type Client interface {
	Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
	Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error
}

// Syncer applies children.
type Syncer struct {
	client Client

	// live reads past the cache, which holds only objects with our labels, and no managed fields.
	live client.Reader

	legacy   legacyManagers
	schemas  schemas
	contests *contests
}

// NewSyncer returns a Syncer that writes by the client, and looks at foreign objects by the live reader. Of children
// that an operator before this one made, it takes over the fields of the given managers.
func NewSyncer(writer Client, live client.Reader, scheme *runtime.Scheme, legacyFieldManagers []string) *Syncer {
	return &Syncer{
		client: writer, live: live,
		legacy: newLegacyManagers(legacyFieldManagers), schemas: newSchemas(scheme), contests: newContests(),
	}
}

// Sync makes the children what they are to be. A child that fails or is refused does not keep the others from
// being applied.
func (s *Syncer) Sync(
	ctx context.Context, mc *cachev1.Memcached, snapshot observe.Snapshot, objects []render.Object,
) Report {
	var report Report
	for _, object := range objects {
		outcome, err := s.syncOne(ctx, mc, snapshot.Children[object.GroupKind], object)
		outcome.GroupKind, outcome.Name = object.GroupKind, mc.Name
		report = append(report, settle(outcome, err))
	}
	for _, child := range unwanted(mc, snapshot, objects) {
		outcome, err := s.remove(ctx, child.object)
		outcome.GroupKind, outcome.Name = child.kind, mc.Name
		report = append(report, settle(outcome, err))
	}
	return report
}

// settle makes an error part of the outcome.
func settle(outcome Outcome, err error) Outcome {
	switch {
	case err == nil:
	case apierrors.IsConflict(err):
		outcome.Verdict, outcome.RetryAfter = Leaving, replacedRetry
		outcome.Why = fmt.Sprintf("%s %q was replaced just now", outcome.Kind, outcome.Name)
	default:
		outcome.Verdict, outcome.Err = Failed, fmt.Errorf("%s %q: %w", outcome.Kind, outcome.Name, err)
	}
	return outcome
}

func (s *Syncer) syncOne(
	ctx context.Context, mc *cachev1.Memcached, live client.Object, object render.Object,
) (Outcome, error) {
	if err := stamp(object); err != nil {
		return Outcome{}, err
	}
	switch {
	case live == nil:
		return s.create(ctx, mc, object)
	case isLeaving(live, mc):
		return leaving(live, object), nil
	case !metav1.IsControlledBy(live, mc):
		return s.adoptOrRefuse(ctx, mc, live, object)
	}
	return s.syncOurs(ctx, live, object)
}

// syncOurs makes an object of ours what it is to be.
func (s *Syncer) syncOurs(ctx context.Context, live client.Object, object render.Object) (Outcome, error) {
	live, err := s.inherit(ctx, live, object)
	if err != nil {
		return Outcome{}, err
	}
	generation, err := s.letGo(ctx, live)
	if err != nil {
		return Outcome{}, err
	}
	fields, err := s.schemas.differences(live, object)
	if err != nil || len(fields) == 0 {
		return Outcome{Verdict: Unchanged, Generation: generation}, err
	}
	if wait := s.contests.wait(live.GetUID(), hashOf(object)); wait > 0 {
		return contested(object, fields, wait), nil
	}
	return s.update(ctx, live, fields, object)
}

// contested gives way in a fight, and says how to end it.
func contested(object render.Object, fields []string, wait time.Duration) Outcome {
	return Outcome{Verdict: Contested, RetryAfter: wait, Why: fmt.Sprintf(
		"%s %q is changed by somebody each time that it is put right: %s. It is left as it is for up to %s. "+
			"Find who sets these fields by `kubectl get %s %[2]s --show-managed-fields -o yaml`, and stop them",
		object.Kind, *object.Metadata.Name, fieldsInWords(fields), contestWindow, strings.ToLower(object.Kind))}
}

// fieldsInWords leaves out the operator's own notes, which change with other fields.
func fieldsInWords(fields []string) string {
	others := slices.DeleteFunc(slices.Clone(fields), isNote)
	switch {
	case len(others) > 0:
		return strings.Join(others, ", ")
	case slices.ContainsFunc(fields, isHash):
		return "a field that is no longer set, or only a note of the operator"
	}
	return "a note of the operator"
}

// update applies over an object that is ours. Its uid goes along: should it have been replaced meanwhile, the
// API server refuses.
func (s *Syncer) update(
	ctx context.Context, live client.Object, fields []string, object render.Object,
) (Outcome, error) {
	hash := hashOf(object) // The answer overwrites the object.
	object.Metadata.WithUID(live.GetUID())
	err := s.client.Apply(ctx, object.Configuration, client.FieldOwner(names.FieldOwner), client.ForceOwnership)
	switch {
	case err == nil:
		s.contests.note(live.GetUID(), hash)
		return Outcome{Verdict: Updated, Fields: fields, Generation: answeredGeneration(object)}, nil
	case slices.Contains(refusedFields(err), "spec.selector"):
		return refuse(object, "has another selector, which can not be changed", "delete it, and it is made anew"), nil
	case len(refusedFields(err)) > 0 && len(fields) > 0 && !slices.ContainsFunc(fields, isHash):
		// The wish is the same as before, so it is not the spec's fault, and must not count as that: no %w.
		const text = "a change by somebody else can not be taken back, delete what was added: %s"
		return Outcome{}, fmt.Errorf(text, err.Error())
	}
	return Outcome{}, err
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
	found := observe.New(object.GroupKind)
	err := s.live.Get(ctx, client.ObjectKeyFromObject(mc), found)
	switch {
	case apierrors.IsNotFound(err):
		return Outcome{}, refusal // It went meanwhile; the next pass creates ours.
	case err != nil:
		return Outcome{}, fmt.Errorf("%w (and who owns it can't be read: %w)", refusal, err)
	case isLeaving(found, mc):
		return leaving(found, object), nil
	case metav1.IsControlledBy(found, mc) && selected(found, mc):
		return Outcome{Verdict: Unchanged}, nil // Ours, and the cache is about to show it.
	case metav1.IsControlledBy(found, mc):
		// Ours, and the cache will not show it: it lacks the labels by which the cache selects.
		return s.syncOurs(ctx, found, object)
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
