package apply

// Unowned objects are left alone or adopted, and terminating objects are waited for.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

const (
	// notOwnedRetry is how long to wait before retrying an object that exists and is not owned. The cache has no unowned
	// objects, so no event reports that such an object was deleted.
	notOwnedRetry = 30 * time.Second

	// terminatingRetry is how long to wait before retrying an object that is being deleted. If the cache has the object,
	// the event of its deletion triggers the retry earlier.
	terminatingRetry = 5 * time.Second
)

// adoptOrRefuse adopts an object that the Memcached does not control, if the object has no owner and either the
// operator applied it before, or its annotation AnnotationAdoptBy allows the adoption. It leaves every other object
// unchanged. No field of the Memcached can allow an adoption, because the author of the Memcached may have no rights on
// the object.
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

// takeBack applies an object that the operator applied before and that has no owner: an earlier Memcached of this name
// left it behind, or another client removed the owner reference. A client that keeps removing the owner reference
// causes a conflict.
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

// stays makes sure that the Memcached is not being deleted. With --cascade=orphan the garbage collector removes the
// owner references, and the operator's cache may show that before it shows the deletion of the Memcached. If the
// operator restored the owner references, the garbage collector would delete the object after all.
func (s *Syncer) stays(ctx context.Context, mc *cachev1.Memcached) error {
	fresh := &cachev1.Memcached{}
	err := s.live.Get(ctx, client.ObjectKeyFromObject(mc), fresh)
	if apierrors.IsNotFound(err) || err == nil && (fresh.UID != mc.UID || !fresh.DeletionTimestamp.IsZero()) {
		return errReplaced
	}
	return err
}

// adopt takes over an object that allows its adoption. The request has the resource version that was read, because the
// annotation that allows the adoption may have been removed since.
func (s *Syncer) adopt(ctx context.Context, found client.Object, object render.Object) (Outcome, error) {
	object.Metadata.WithResourceVersion(found.GetResourceVersion())
	outcome, err := s.update(ctx, found, fieldpath.NewSet(), object)
	if isOfHandlers(err) {
		outcome, err = s.adoptWithoutHandlers(ctx, found, object, err)
	}
	if len(refusedFields(err)) > 0 {
		return notOwned(object, "cannot be adopted ("+err.Error()+")",
			"change or delete the conflicting fields, or delete the object"), nil
	}
	if err == nil && outcome.Result == Updated {
		outcome.Result = Adopted
	}
	return outcome, err
}

// adoptWithoutHandlers adopts an object whose hooks or probes have other handlers than the desired ones. It removes the
// handlers that are not desired first.
func (s *Syncer) adoptWithoutHandlers(
	ctx context.Context, found client.Object, object render.Object, refusal error,
) (Outcome, error) {
	changed, err := s.schemas.differences(found, object)
	if err != nil {
		return Outcome{}, err
	}
	pointers, err := drift.OtherHandlers(found, object.Configuration, changed)
	if err != nil || len(pointers) == 0 {
		return Outcome{}, cmp.Or(err, refusal)
	}
	answer, err := s.removeFields(ctx, found, object.GroupKind, pointers)
	if err != nil {
		return Outcome{}, err
	}
	object.Metadata.WithResourceVersion(answer.GetResourceVersion())
	return s.update(ctx, answer, fieldpath.NewSet(), object)
}

// adoptCommand returns the kubectl command that allows the Memcached to adopt an object.
func adoptCommand(mc *cachev1.Memcached, found metav1.Object, kind string) string {
	command := fmt.Sprintf("kubectl -n %s annotate %s %s %s=%s",
		mc.Namespace, strings.ToLower(kind), found.GetName(), cachev1.AnnotationAdoptBy, mc.Name)
	if _, other := found.GetAnnotations()[cachev1.AnnotationAdoptBy]; other {
		command += " --overwrite"
	}
	return command
}

func notOwned(object render.Object, why, fix string) Outcome {
	if isServiceOfASlot(object) {
		fix += "; or set spec.slots.mode to DNS"
	}
	return Outcome{Result: NotOwned, RetryAfter: notOwnedRetry, Why: fmt.Sprintf(
		"%s %q already exists and %s; the operator did not change it. Fix: %s", object.Kind, *object.Metadata.Name, why, fix)}
}

// isServiceOfASlot reports whether an object is the Service of one slot: it has a cluster IP and selects no Pods.
func isServiceOfASlot(object render.Object) bool {
	service, ok := object.Configuration.(*corev1ac.ServiceApplyConfiguration)
	return ok && service.Spec.ClusterIP == nil && len(service.Spec.Selector) == 0
}

// isTerminating reports whether an object is being deleted, or belongs to a deleted Memcached of the same name, so that
// the garbage collector is about to delete the object.
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
		why += "; the deletion waits for the finalizers " + strings.Join(finalizers, ", ")
	}
	return Outcome{Result: Terminating, RetryAfter: terminatingRetry, Why: why}
}

// refusedFields returns the fields whose values the API server rejected. An admission policy that denies the request
// names no fields.
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

// otherOwner names the controller of an object, or any owner other than the Memcached.
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
