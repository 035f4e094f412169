// Package apply is the only writer of managed objects. It applies the objects that differ from the desired state, by
// server-side apply, and never changes an object that the Memcached does not own.
package apply

// Finds the objects that differ from the desired state, and applies the desired state to them.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// replacedRetry is how long to wait before retrying an object that was replaced since it was read. Usually the event
// of the replacement arrives first.
const replacedRetry = time.Second

// Client is the part of a client that the Syncer uses.
type Client interface {
	Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
	Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error
	Status() client.SubResourceWriter
	SubResource(name string) client.SubResourceClient
}

// Syncer applies managed objects.
type Syncer struct {
	client Client

	// live reads from the API server. The cache holds only objects with the operator's labels, without managed fields.
	live client.Reader

	legacy    legacyManagers
	schemas   schemas
	conflicts *conflicts
	creations *creations
	lost      *lost
	refusals  refusals
}

// NewSyncer returns a Syncer that writes with the client, and reads unowned objects with the live reader. The Syncer
// takes over the fields that these legacy field managers set in objects created by an earlier operator.
func NewSyncer(writer Client, live client.Reader, scheme *runtime.Scheme, legacyFieldManagers []string) *Syncer {
	return &Syncer{
		client: writer, live: live,
		legacy: sets.New(legacyFieldManagers...), schemas: newSchemas(scheme),
		conflicts: newConflicts(), creations: newCreations(), lost: newLost(scheme), refusals: refusals{cache.NewExpiring()},
	}
}

// TakeCreation is called for each managed object that appears in the cache. It reports whether this Syncer has just
// created the object, and no client has changed it since. It reports this only once for each object.
func (s *Syncer) TakeCreation(object client.Object) bool {
	s.lost.note(object, false)
	return s.creations.take(object)
}

// Sync applies the desired objects and deletes those that are no longer desired. A failed object does not stop the
// others, with one exception: a Deployment may have to wait for its NetworkPolicy.
func (s *Syncer) Sync(
	ctx context.Context, mc *cachev1.Memcached, snapshot observe.Snapshot, objects []render.Object,
) Report {
	report := s.syncAll(ctx, mc, snapshot, objects)
	return append(report, s.removeUnwanted(ctx, mc, snapshot, objects, report)...)
}

// SyncExisting applies only the objects that the Memcached owns already. It creates, adopts and deletes nothing.
func (s *Syncer) SyncExisting(
	ctx context.Context, mc *cachev1.Memcached, snapshot observe.Snapshot, objects []render.Object,
) Report {
	return s.syncAll(ctx, mc, snapshot, slices.DeleteFunc(objects, func(object render.Object) bool {
		live := snapshot.Objects[keyOf(object)]
		return live == nil || !metav1.IsControlledBy(live, mc)
	}))
}

// syncAll applies the objects, in their order.
func (s *Syncer) syncAll(
	ctx context.Context, mc *cachev1.Memcached, snapshot observe.Snapshot, objects []render.Object,
) Report {
	var report Report
	for _, object := range objects {
		if object.Kept {
			continue
		}
		key := keyOf(object)
		outcome, err := withheld(report, object), error(nil)
		if outcome.Result == "" {
			outcome = waitingForPolicy(snapshot, report, object)
		}
		if outcome.Result == "" {
			nameOwnService(mc, snapshot, report, object)
			outcome, err = s.syncOne(ctx, mc, snapshot.Objects[key], object)
		}
		outcome.GroupKind, outcome.Name = key.GroupKind, key.Name
		report = append(report, settle(outcome, err))
	}
	return report
}

// keyOf identifies a desired object.
func keyOf(object render.Object) observe.Key {
	return observe.Key{GroupKind: object.GroupKind, Name: *object.Metadata.Name}
}

// waitingForPolicy returns the result Waiting for a Deployment whose NetworkPolicy could not be applied, if the
// Deployment has no Pods yet or its Pods would listen on other ports. A running cache is not stopped.
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

// runs reports whether the cache has Pods, or a Deployment that creates Pods.
func runs(snapshot observe.Snapshot) bool {
	deployment := snapshot.Deployment()
	makesSome := deployment != nil && (deployment.Spec.Replicas == nil || *deployment.Spec.Replicas > 0)
	return makesSome || len(snapshot.Pods) > 0
}

// settle adds the error of a write to the outcome, with the result and the time of the next attempt that follow from
// the error.
func settle(outcome Outcome, err error) Outcome {
	switch {
	case err == nil:
	case apierrors.IsConflict(err), errors.Is(err, errReplaced):
		outcome.Result, outcome.RetryAfter = Terminating, replacedRetry
		outcome.Why = fmt.Sprintf("%s %q was changed or replaced since it was read", outcome.Kind, outcome.Name)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause): // A retry cannot succeed.
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
	if object.Guarded && live != nil {
		object.Version = live.GetResourceVersion()
	}
	switch {
	case live == nil:
		return s.refusals.unlessRefused(refusalKeyOf(mc, object), func() (Outcome, error) {
			return s.create(ctx, mc, object)
		})
	case isTerminating(live, mc):
		return terminating(live, object), nil
	case !metav1.IsControlledBy(live, mc):
		return s.adoptOrRefuse(ctx, mc, live, object)
	}
	return s.syncOwned(ctx, live, object)
}

// syncOwned applies an object that the Memcached owns.
func (s *Syncer) syncOwned(ctx context.Context, live client.Object, object render.Object) (Outcome, error) {
	live, err := s.inherit(ctx, live, object)
	if err != nil {
		return Outcome{}, err
	}
	outcome, err := s.makeSame(ctx, live, object)
	if err != nil {
		return outcome, err
	}
	// Resume last: a paused rollout must not continue with an outdated template.
	generation, err := s.resume(ctx, live)
	outcome.Generation = max(outcome.Generation, generation)
	return outcome, err
}

// makeSame writes an object that the Memcached owns, if the object differs from the desired state.
func (s *Syncer) makeSame(ctx context.Context, live client.Object, object render.Object) (Outcome, error) {
	changed, err := s.schemas.differences(live, object)
	switch {
	case err != nil:
		return Outcome{}, err
	case changed.Empty():
		return s.removeGate(ctx, live, object)
	}
	return s.refusals.unlessRefused(refusalKeyOf(live, object), func() (Outcome, error) {
		if s.desiredChanged(live, object) {
			return s.update(ctx, live, changed, object)
		}
		return s.correct(ctx, live, changed, object)
	})
}

// desiredChanged reports whether the desired state changed since the last write. If it did not, another client changed
// fields that the operator wrote.
func (s *Syncer) desiredChanged(live client.Object, object render.Object) bool {
	before := live.GetAnnotations()[names.AnnotationAppliedHash]
	return before != "" && before != hashOf(object) && !s.conflicts.knows(live.GetUID(), hashOf(object))
}

// update applies the desired state to an object that the Memcached owns. The uid in the request makes sure that the
// request changes no other object of this name.
func (s *Syncer) update(
	ctx context.Context, live client.Object, changed *fieldpath.Set, object render.Object,
) (Outcome, error) {
	hash := hashOf(object) // The answer overwrites the object.
	asked, err := untyped(object.Configuration)
	if err != nil {
		return Outcome{}, err
	}
	object.Metadata.WithUID(live.GetUID())
	if object.Version != "" {
		object.Metadata.WithResourceVersion(object.Version)
	}
	err = s.applyOver(ctx, object.Configuration, client.FieldOwner(names.FieldOwner))
	var attached []string
	if len(refusedFields(err)) > 0 {
		attached, err = s.applyWithoutRejected(ctx, live, changed, object, err)
	}
	if err == nil {
		s.conflicts.note(live.GetUID(), hash)
		outcome, err := s.stored(live, changed, asked, object)
		outcome.Attached = attached
		return outcome, err
	}
	if immutable := immutableField(err); immutable != "" {
		const fix = "delete it, and the operator creates it again"
		return notOwned(object, "has a different "+immutable+", which is immutable", fix), nil
	}
	return Outcome{}, err
}

// immutableField names the immutable field for which the API server rejected a change, or returns "".
func immutableField(err error) string {
	for _, field := range refusedFields(err) {
		switch field {
		case "spec.selector":
			return "selector"
		case "spec.clusterIP", "spec.clusterIPs", "spec.clusterIPs[0]":
			return "cluster IP"
		case "type": // this case and the next are fields of a Secret
			return "type"
		case "data", "immutable":
			return "content"
		}
	}
	return ""
}

// errReplaced means that the object is no longer the one that was read, or now has another controller.
var errReplaced = errors.New("it was replaced since it was read")

// applyOver applies, with force, a configuration that carries the uid of the object that was read. If the object no
// longer exists, the API server returns a conflict. If another object has the name, the API server rejects the uid as
// immutable; if another controller owns the object, the API server rejects a second controller. None of these is an
// error in the spec.
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
