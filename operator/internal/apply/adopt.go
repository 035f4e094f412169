package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

const (
	// notOwnedRetry is how often a child that somebody else's object stands in the way of is tried again. The cache does
	// not hold foreign objects, so no event tells when such an object goes.
	notOwnedRetry = 30 * time.Second

	// terminatingRetry is how often one is tried again that is on its way out; its end is an event, if the cache holds it.
	terminatingRetry = 5 * time.Second
)

// adoptOrRefuse takes over an object that the Memcached does not control, if it has no owner and either is the
// operator's own work or says itself that it may be taken over. It leaves every other one as it is. What the Memcached
// says does not count: whoever may write that need not have any right on the object.
func (s *Syncer) adoptOrRefuse(
	ctx context.Context, mc *cachev1.Memcached, found client.Object, object render.Object,
) (Outcome, error) {
	if owner := otherOwner(found, mc); owner != "" {
		return notOwned(object, "belongs to "+owner, "delete or rename it, or give this Memcached another name"), nil
	}
	found, err := s.withManagedFields(ctx, found, object.GroupKind)
	switch {
	case apierrors.IsNotFound(err):
		return Outcome{}, errReplaced
	case err != nil:
		return Outcome{}, fmt.Errorf("read its managed fields: %w", err)
	case drift.Applied(found):
		return s.takeBack(ctx, mc, found, object)
	case found.GetAnnotations()[cachev1.AnnotationAdoptBy] == mc.Name:
		return s.adopt(ctx, found, object)
	}
	why := "has no owner"
	if len(found.GetOwnerReferences()) > 0 {
		why = "has no controller"
	}
	return notOwned(object, why, "delete or rename it, give this Memcached another name, or let the operator adopt it: "+
		adoptCommand(mc, found, object.Kind)), nil
}

// takeBack makes an object of our own making what it is to be: one that an earlier Memcached of this name left behind,
// or that somebody took the owner reference from. Whoever does so again and again has a fight.
func (s *Syncer) takeBack(
	ctx context.Context, mc *cachev1.Memcached, found client.Object, object render.Object,
) (Outcome, error) {
	if err := s.stays(ctx, mc); err != nil {
		return Outcome{}, err
	}
	outcome, err := s.syncOwned(ctx, found, object)
	if outcome.Result == Updated && len(outcome.Drift) == 0 {
		outcome.Result = Adopted
	}
	return outcome, err
}

// stays makes sure that the Memcached is not being deleted. The garbage collector takes the owner references from what
// is to outlive it (--cascade=orphan), and the cache may show that before the deletion. To put them back would be to
// have the garbage collector delete it after all.
func (s *Syncer) stays(ctx context.Context, mc *cachev1.Memcached) error {
	fresh := &cachev1.Memcached{}
	err := s.live.Get(ctx, client.ObjectKeyFromObject(mc), fresh)
	if apierrors.IsNotFound(err) || err == nil && (fresh.UID != mc.UID || !fresh.DeletionTimestamp.IsZero()) {
		return errReplaced
	}
	return err
}

// adopt takes over an object of somebody's that allows it, as it was seen: that may have been withdrawn since.
func (s *Syncer) adopt(ctx context.Context, found client.Object, object render.Object) (Outcome, error) {
	object.Metadata.WithResourceVersion(found.GetResourceVersion())
	outcome, err := s.update(ctx, found, fieldpath.NewSet(), object)
	if len(refusedFields(err)) > 0 {
		return notOwned(object, "cannot be adopted ("+err.Error()+")",
			"change or delete the conflicting fields, or delete the object"), nil
	}
	if err == nil && outcome.Result == Updated {
		outcome.Result = Adopted
	}
	return outcome, err
}

// adoptCommand is by what somebody with rights on an object lets a Memcached have it.
func adoptCommand(mc *cachev1.Memcached, found metav1.Object, kind string) string {
	command := fmt.Sprintf("kubectl -n %s annotate %s %s %s=%s",
		mc.Namespace, strings.ToLower(kind), mc.Name, cachev1.AnnotationAdoptBy, mc.Name)
	if _, other := found.GetAnnotations()[cachev1.AnnotationAdoptBy]; other {
		command += " --overwrite"
	}
	return command
}

func notOwned(object render.Object, why, remedy string) Outcome {
	return Outcome{Result: NotOwned, RetryAfter: notOwnedRetry, Why: fmt.Sprintf(
		"%s %q already exists and %s; the operator did not change it. Fix: %s", object.Kind, *object.Metadata.Name, why, remedy)}
}

// isTerminating tells whether an object is on its way out: it is being deleted, or belongs to a Memcached of the same name
// that was deleted, and the garbage collector has not come to it yet.
func isTerminating(found metav1.Object, mc *cachev1.Memcached) bool {
	if !found.GetDeletionTimestamp().IsZero() {
		return true
	}
	return !metav1.IsControlledBy(found, mc) &&
		slices.ContainsFunc(found.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
			return owner.APIVersion == cachev1.GroupVersion.String() && owner.Kind == "Memcached" &&
				owner.Name == mc.Name && owner.UID != mc.UID
		})
}

func terminating(found metav1.Object, object render.Object) Outcome {
	why := fmt.Sprintf("%s %q is being deleted; the operator creates it again afterwards", object.Kind, found.GetName())
	if finalizers := found.GetFinalizers(); len(finalizers) > 0 {
		why += "; it waits for its finalizers " + strings.Join(finalizers, ", ")
	}
	return Outcome{Result: Terminating, RetryAfter: terminatingRetry, Why: why}
}

// refusedFields are the fields because of whose values the API server refused an object. A policy that denies names
// none: it may change.
func refusedFields(err error) []string {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsInvalid(status) || status.ErrStatus.Details == nil {
		return nil
	}
	var fields []string
	for _, cause := range status.ErrStatus.Details.Causes {
		if cause.Field != "" {
			fields = append(fields, cause.Field)
		}
	}
	return fields
}

// otherOwner names the controller of an object, or any other owner that it has, but for the Memcached.
func otherOwner(object metav1.Object, mc *cachev1.Memcached) string {
	if controller := metav1.GetControllerOf(object); controller != nil {
		return controller.Kind + " " + controller.Name
	}
	for _, owner := range object.GetOwnerReferences() {
		if owner.UID != mc.UID {
			return owner.Kind + " " + owner.Name
		}
	}
	return ""
}
