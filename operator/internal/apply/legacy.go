package apply

// Takes over the fields that an earlier operator set, once.

import (
	"context"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// inheritedHash replaces the hash on an object that another operator created and that this operator has not applied
// yet.
const inheritedHash = "inherited"

// legacyManagers are the field managers of earlier operators, which created the objects by updates.
type legacyManagers = sets.Set[string]

// inherit moves the fields that an earlier operator set in an owned object to this operator's field manager, so that
// the next apply removes the fields that are not desired. It returns the changed object. It does so only once, before
// the first apply: the hash that it writes prevents a repetition.
func (s *Syncer) inherit(ctx context.Context, live client.Object, object render.Object) (client.Object, error) {
	if len(s.legacy) == 0 || live.GetAnnotations()[names.AnnotationAppliedHash] != "" {
		return live, nil
	}
	live, err := s.withManagedFields(ctx, live, object.GroupKind)
	if err != nil {
		return nil, fmt.Errorf("read its managed fields: %w", err)
	}
	fields, err := moveFields(live.GetManagedFields(), s.legacy)
	if err != nil || fields == nil || !selectorMatches(live) {
		return live, err
	}
	inherited := live.DeepCopyObject().(client.Object)
	inherited.SetManagedFields(fields)
	annotations := map[string]string{}
	maps.Copy(annotations, live.GetAnnotations())
	annotations[names.AnnotationAppliedHash] = inheritedHash
	inherited.SetAnnotations(annotations)
	// Without the optimistic lock, a client that writes at the same time could lose its fields.
	err = s.client.Patch(ctx, inherited, client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{}),
		client.FieldOwner(names.FieldOwner))
	return inherited, err
}

// moveFields returns the managed fields with those of the legacy managers moved to the operator; nil if there is
// nothing to move. If the operator has applied the object before, nothing is moved: the object then has no hash only
// because another client removed it.
func moveFields(managed []metav1.ManagedFieldsEntry, legacy legacyManagers) ([]metav1.ManagedFieldsEntry, error) {
	isLegacy := func(entry metav1.ManagedFieldsEntry) bool {
		return legacy.Has(entry.Manager) && entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == ""
	}
	if slices.ContainsFunc(managed, isApplied) || !slices.ContainsFunc(managed, isLegacy) {
		return nil, nil
	}
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ManagedFields: managed}}
	err := csaupgrade.UpgradeManagedFields(object, legacy, names.FieldOwner)
	return object.ManagedFields, err
}

func isApplied(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == names.FieldOwner && entry.Operation == metav1.ManagedFieldsOperationApply
}

// selectorMatches reports whether a Deployment has the operator's selector, which is immutable. With another selector
// the apply would be refused, so the object stays unchanged.
func selectorMatches(live client.Object) bool {
	deployment, ok := live.(*appsv1.Deployment)
	selector := metav1.SetAsLabelSelector(names.Selector(live.GetName()))
	return !ok || apiequality.Semantic.DeepEqual(deployment.Spec.Selector, selector)
}
