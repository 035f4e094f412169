// Package apply is the only writer of children. It applies what differs, by server-side apply, and never
// touches an object that belongs to somebody else.
package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// replacedRetry is how soon a child is tried again that was replaced since it was read. The event that tells of it is
// on its way; this is for the case that it is not.
const replacedRetry = time.Second

// createdRetry is how soon a child that was created is looked at, if nothing else calls for that: an admission webhook
// may have made another one of it. That it appears in the cache does not call for it.
const createdRetry = 10 * time.Second

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

	legacy    legacyManagers
	schemas   schemas
	conflicts *conflicts
	creations *creations
}

// NewSyncer returns a Syncer that writes by the client, and looks at foreign objects by the live reader. Of children
// that an operator before this one made, it takes over the fields of the given managers.
func NewSyncer(writer Client, live client.Reader, scheme *runtime.Scheme, legacyFieldManagers []string) *Syncer {
	return &Syncer{
		client: writer, live: live,
		legacy: sets.New(legacyFieldManagers...), schemas: newSchemas(scheme),
		conflicts: newConflicts(), creations: newCreations(),
	}
}

// TakeCreation is told of each child that appears in the cache. It tells, once, that the child is what was created just
// now.
func (s *Syncer) TakeCreation(child client.Object) bool { return s.creations.take(child) }

// Sync makes the children what they are to be. A child that fails or is refused does not keep the others from
// being applied, but for one: a Deployment may have to wait for its NetworkPolicy.
func (s *Syncer) Sync(
	ctx context.Context, mc *cachev1.Memcached, snapshot observe.Snapshot, objects []render.Object,
) Report {
	var report Report
	for _, object := range objects {
		outcome, err := waitingForPolicy(snapshot, report, object), error(nil)
		if outcome.Result == "" {
			outcome, err = s.syncOne(ctx, mc, snapshot.Objects[object.GroupKind], object)
		}
		outcome.GroupKind, outcome.Name = object.GroupKind, mc.Name
		report = append(report, settle(outcome, err))
	}
	for _, child := range unwanted(mc, snapshot, objects) {
		outcome, err := s.remove(ctx, mc, child)
		outcome.GroupKind, outcome.Name = child.kind, mc.Name
		report = append(report, settle(outcome, err))
	}
	return report
}

// waitingForPolicy returns the outcome of a Deployment whose NetworkPolicy is wanted and was not made, if it has no
// Pods yet, or its Pods are to listen on other ports; else none. A cache that runs already is not stopped.
func waitingForPolicy(snapshot observe.Snapshot, report Report, object render.Object) Outcome {
	policy, wanted := report.Of(observe.PolicyKind.GroupKind())
	if object.GroupKind != observe.DeploymentKind.GroupKind() || !wanted || policy.IsMade() {
		return Outcome{}
	}
	switch {
	case !runs(snapshot):
		return Outcome{Result: Waiting, Why: "no Pods are created: they wait for the NetworkPolicy"}
	case !snapshot.DeployedPorts().Has(object.Ports):
		return Outcome{Result: Waiting, Why: "no Pods are replaced: the NetworkPolicy must allow the new ports first"}
	}
	return Outcome{}
}

// runs tells whether there are Pods, or a Deployment that makes some.
func runs(snapshot observe.Snapshot) bool {
	deployment := snapshot.Deployment()
	makesSome := deployment != nil && (deployment.Spec.Replicas == nil || *deployment.Spec.Replicas > 0)
	return makesSome || len(snapshot.Pods) > 0
}

// settle makes an error part of the outcome.
func settle(outcome Outcome, err error) Outcome {
	switch {
	case err == nil:
	case apierrors.IsConflict(err), errors.Is(err, errReplaced):
		outcome.Result, outcome.RetryAfter = Terminating, replacedRetry
		outcome.Why = fmt.Sprintf("%s %q was changed or replaced since it was read", outcome.Kind, outcome.Name)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause): // It never ends otherwise: no retry is of use.
		outcome.Result = Terminating
		outcome.Why = fmt.Sprintf("%s %q cannot be created: the namespace is being deleted", outcome.Kind, outcome.Name)
	default:
		outcome.Result, outcome.Err = Failed, fmt.Errorf("%s %q: %w", outcome.Kind, outcome.Name, err)
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
	case isTerminating(live, mc):
		return terminating(live, object), nil
	case !metav1.IsControlledBy(live, mc):
		return s.adoptOrRefuse(ctx, mc, live, object)
	}
	return s.syncOwned(ctx, live, object)
}

// syncOwned makes an object of ours what it is to be.
func (s *Syncer) syncOwned(ctx context.Context, live client.Object, object render.Object) (Outcome, error) {
	live, err := s.inherit(ctx, live, object)
	if err != nil {
		return Outcome{}, err
	}
	outcome, err := s.makeSame(ctx, live, object)
	if err != nil {
		return outcome, err
	}
	// Only now: a rollout that was held must not go on to what is no longer wanted.
	generation, err := s.resume(ctx, live)
	outcome.Generation = max(outcome.Generation, generation)
	return outcome, err
}

// makeSame writes an object that is ours, if it differs.
func (s *Syncer) makeSame(ctx context.Context, live client.Object, object render.Object) (Outcome, error) {
	changed, err := s.schemas.differences(live, object)
	switch {
	case err != nil || changed.Empty():
		return Outcome{Result: Unchanged}, err
	case s.desiredChanged(live, object):
		return s.update(ctx, live, changed, object)
	}
	return s.correct(ctx, live, changed, object)
}

// desiredChanged tells whether something else is wanted of an object than when it was written last. What we have written
// before, and is not so any more, somebody else has changed.
func (s *Syncer) desiredChanged(live client.Object, object render.Object) bool {
	before := live.GetAnnotations()[names.AnnotationAppliedHash]
	return before != "" && before != hashOf(object) && !s.conflicts.knows(live.GetUID(), hashOf(object))
}

// update applies over an object that is ours, and over no other that took its place.
func (s *Syncer) update(
	ctx context.Context, live client.Object, changed *fieldpath.Set, object render.Object,
) (Outcome, error) {
	hash := hashOf(object) // The answer overwrites the object.
	object.Metadata.WithUID(live.GetUID())
	err := s.applyOver(ctx, object.Configuration, client.FieldOwner(names.FieldOwner))
	if len(refusedFields(err)) > 0 {
		err = s.applyWithoutStrays(ctx, live, changed, object, err)
	}
	switch {
	case err == nil:
		s.conflicts.note(live.GetUID(), hash)
		return Outcome{Result: Updated, Fields: paths(changed), Generation: answeredGeneration(object)}, nil
	case slices.Contains(refusedFields(err), "spec.selector"):
		return notOwned(object, "has a different selector, which is immutable", "delete it, and the operator creates it again"), nil
	}
	return Outcome{}, err
}

// errReplaced says that an object is not the one that was read any more, or is another controller's.
var errReplaced = errors.New("it was replaced since it was read")

// applyOver applies, by force, what carries the uid of the object that was read. Where there is none of the name, the
// API server answers with a conflict; where there is another one, it refuses the uid as a field that can't change, and
// where another controller has it since, a second one. That says nothing against what is applied.
func (s *Syncer) applyOver(
	ctx context.Context, wanted runtime.ApplyConfiguration, options ...client.ApplyOption,
) error {
	err := s.client.Apply(ctx, wanted, append(options, client.ForceOwnership)...)
	for _, field := range refusedFields(err) {
		if field == "metadata.uid" || field == "metadata.ownerReferences" {
			return errReplaced
		}
	}
	return err
}

// create applies an object that must not exist yet. Server-side apply has no such condition of its own, but it
// compares resource versions where one is given, and only with an object that is there: with one that no object
// has, it creates or refuses. Somebody else's object is thus never touched, not even for a moment.
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
		return Outcome{}, fmt.Errorf("%w (and its owner cannot be read: %w)", refusal, err)
	case isTerminating(found, mc):
		return terminating(found, object), nil
	case metav1.IsControlledBy(found, mc) && selected(found, mc):
		return Outcome{Result: Unchanged}, nil // Ours, and the cache is about to show it.
	case metav1.IsControlledBy(found, mc):
		// Ours, and the cache will not show it: it lacks the labels by which the cache selects.
		return s.syncOwned(ctx, found, object)
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
