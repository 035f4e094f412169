package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

const (
	// refusedRetry is how often a child that somebody else's object stands in the way of is tried again. The cache does
	// not hold foreign objects, so no event tells when such an object goes.
	refusedRetry = 30 * time.Second

	// leavingRetry is how often one is tried again that is on its way out; its end is an event, if the cache holds it.
	leavingRetry = 5 * time.Second
)

// adoptOrRefuse takes an object that is not ours over, where it is nobody's and the Memcached says so, and leaves it
// as it is everywhere else.
func (s *Syncer) adoptOrRefuse(
	ctx context.Context, mc *cachev1.Memcached, found client.Object, object render.Object,
) (Outcome, error) {
	if owner := ownerOf(found); owner != "" {
		return refuse(object, "belongs to "+owner, "delete or rename it, or give this Memcached another name"), nil
	}
	if !adopts(mc, object.Kind) {
		return refuse(object, "has no owner", fmt.Sprintf(
			"delete or rename it, give this Memcached another name, or let it be taken over by the annotation %s: %s",
			cachev1.AnnotationAdopt, strings.ToLower(object.Kind))), nil
	}
	outcome, err := s.update(ctx, found, fieldpath.NewSet(), object)
	if len(refusedFields(err)) > 0 {
		return refuse(object, "can not be taken over ("+err.Error()+")",
			"change or delete what stands in the way, or delete the whole object"), nil
	}
	if err == nil && outcome.Verdict == Updated {
		outcome.Verdict = Adopted
	}
	return outcome, err
}

func refuse(object render.Object, why, remedy string) Outcome {
	return Outcome{Verdict: Refused, RetryAfter: refusedRetry, Why: fmt.Sprintf(
		"%s %q exists already and %s, so it was left as it is: %s", object.Kind, *object.Metadata.Name, why, remedy)}
}

// isLeaving tells whether an object is on its way out: it is being deleted, or belongs to a Memcached of the same name
// that was deleted, and the garbage collector has not come to it yet.
func isLeaving(found metav1.Object, mc *cachev1.Memcached) bool {
	if !found.GetDeletionTimestamp().IsZero() {
		return true
	}
	owner := metav1.GetControllerOf(found)
	return owner != nil && owner.APIVersion == cachev1.GroupVersion.String() && owner.Kind == "Memcached" &&
		owner.Name == mc.Name && owner.UID != mc.UID
}

func leaving(found metav1.Object, object render.Object) Outcome {
	why := fmt.Sprintf("%s %q is being deleted, and is made anew when it is gone", object.Kind, found.GetName())
	if finalizers := found.GetFinalizers(); len(finalizers) > 0 {
		why += "; it waits for its finalizers " + strings.Join(finalizers, ", ")
	}
	return Outcome{Verdict: Leaving, RetryAfter: leavingRetry, Why: why}
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

// adopts tells whether the Memcached takes over ownerless objects of a kind.
func adopts(mc *cachev1.Memcached, kind string) bool {
	for name := range strings.SplitSeq(mc.Annotations[cachev1.AnnotationAdopt], ",") {
		if strings.EqualFold(strings.TrimSpace(name), kind) {
			return true
		}
	}
	return false
}

// ownerOf names the controller of an object, or any other owner it has.
func ownerOf(object metav1.Object) string {
	if controller := metav1.GetControllerOf(object); controller != nil {
		return controller.Kind + " " + controller.Name
	}
	for _, owner := range object.GetOwnerReferences() {
		return owner.Kind + " " + owner.Name
	}
	return ""
}
