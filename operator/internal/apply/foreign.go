package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/render"
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
	outcome, err := s.update(ctx, found.GetUID(), nil, object)
	if err == nil && outcome.Verdict == Updated {
		outcome.Verdict = Adopted
	}
	return outcome, err
}

func refuse(object render.Object, why, remedy string) Outcome {
	return Outcome{Verdict: Refused, Refusal: fmt.Sprintf("%s %q exists already and %s, so it was left as it is: %s",
		object.Kind, *object.Metadata.Name, why, remedy)}
}

// RefusedField tells whether the API server refused a child because of the value of a field: the spec asks for something
// that only the API server knows to be impossible. A policy that denies is something else: it may change.
func RefusedField(err error) bool {
	return len(refusedFields(err)) > 0
}

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
