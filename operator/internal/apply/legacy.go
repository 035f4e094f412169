package apply

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

// inheritedHash stands for the hash of what was applied, on an object that another operator made and none of us has
// applied yet.
const inheritedHash = "inherited"

// legacyManagers are the field managers of operators that made our children before us, by updates.
type legacyManagers = sets.Set[string]

// inherit makes the fields ours that an operator before us has set in an object of ours, so that applying it drops
// those that are not wanted. It returns the object as it is then. That happens once, before an object is applied the
// first time: it leaves a hash behind, which the object has from then on.
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
	// Whoever writes in between would lose fields of theirs, hence the lock.
	err = s.client.Patch(ctx, inherited, client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{}),
		client.FieldOwner(names.FieldOwner))
	return inherited, err
}

// moveFields returns managed fields in which those of the legacy managers are ours; nil where nothing is to be moved.
// An object that we have applied before has nothing to inherit: somebody took its hash away.
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

// selectorMatches tells whether a Deployment can become ours. Its selector is immutable: one with another will be refused,
// and then has to stay as it was.
func selectorMatches(live client.Object) bool {
	deployment, ok := live.(*appsv1.Deployment)
	ours := metav1.SetAsLabelSelector(names.Selector(live.GetName()))
	return !ok || apiequality.Semantic.DeepEqual(deployment.Spec.Selector, ours)
}
