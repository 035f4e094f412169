package apply

// Reverts drift, and finds the field manager that caused it.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

// correct reverts drift. If it has written the same desired state several times, it pauses.
func (s *Syncer) correct(
	ctx context.Context, live client.Object, changed *fieldpath.Set, object render.Object,
) (Outcome, error) {
	hash, first := hashOf(object), changed.String() // The answer overwrites the object.
	wait := s.conflicts.wait(live.GetUID(), hash)
	if known := s.conflicts.explained(live.GetUID(), first); wait > 0 && known != nil {
		return Outcome{Result: Conflicting, RetryAfter: wait, Drift: known}, nil
	}
	// The read only serves to find the field manager that caused the drift, so the drift is reverted even if the read
	// fails.
	if fresh, err := s.withManagedFields(ctx, live, object.GroupKind); err == nil {
		live = fresh
	}
	changed, err := s.schemas.differences(live, object)
	if err != nil || changed.Empty() { // The object has become correct, and the cache is about to show it.
		return Outcome{Result: Unchanged}, err
	}
	found, err := drift.Explain(live, object.Configuration, changed)
	if err != nil {
		return Outcome{}, err
	}
	if wait > 0 {
		s.conflicts.explain(live.GetUID(), first, found)
		return Outcome{Result: Conflicting, RetryAfter: wait, Drift: found}, nil
	}
	outcome, err := s.update(ctx, live, changed, object)
	if errors.Is(err, errUndone) {
		found = drift.ByAdmission(found)
		s.conflicts.explain(live.GetUID(), first, found)
		wait := max(s.conflicts.wait(live.GetUID(), hash), replacedRetry) // No event triggers the next attempt.
		return Outcome{Result: Conflicting, RetryAfter: wait, Drift: found}, nil
	}
	if len(refusedFields(err)) > 0 {
		// The desired state has not changed, so the spec is not the cause. The error must not count as an error in the spec,
		// so it is not wrapped with %w.
		err = fmt.Errorf("drift cannot be reverted (%s): delete what was added. The API server answers: %s",
			drift.Describe(found), err.Error())
	}
	outcome.Drift, outcome.Version = found, live.GetResourceVersion()
	return outcome, err
}

// withManagedFields reads an object from the API server, because the cache holds no managed fields. If the object was
// replaced, the function returns the given object. The apply that follows then fails, because the old uid is no longer
// valid.
func (s *Syncer) withManagedFields(
	ctx context.Context, live client.Object, kind schema.GroupKind,
) (client.Object, error) {
	if slices.ContainsFunc(live.GetManagedFields(), hasFields) {
		return live, nil // This object was read from the API server.
	}
	fresh := observe.New(kind)
	if err := s.live.Get(ctx, client.ObjectKeyFromObject(live), fresh); err != nil {
		return nil, err
	}
	if fresh.GetUID() != live.GetUID() {
		return live, nil
	}
	return fresh, nil
}

// hasFields reports whether an entry was read from the API server. The cache keeps only the entry that records a pause,
// and keeps this entry without its fields.
func hasFields(entry metav1.ManagedFieldsEntry) bool { return entry.FieldsV1 != nil }

// applyWithoutRejected removes the fields of other clients that made the API server reject an apply, and applies again.
// These fields are list items with other keys, fields that exclude an operator's field, and hooks and probes with
// another handler. If the object has no such fields, it removes mounts of volumes that the operator no longer applies,
// and returns the paths of the mounts. It removes fields only from the object version that was read. If there is
// nothing to remove, it returns the refusal.
func (s *Syncer) applyWithoutRejected(
	ctx context.Context, live client.Object, changed *fieldpath.Set, object render.Object, refusal error,
) ([]string, error) {
	rejected, err := drift.Replacements(live, object.Configuration, changed)
	var attached []string
	switch {
	case err != nil || len(rejected) > 0:
	case isOfHandlers(refusal):
		rejected, err = drift.OtherHandlers(live, object.Configuration, changed)
	case isOfMounts(refusal):
		if live, err = s.withManagedFields(ctx, live, object.GroupKind); err == nil {
			rejected, attached, err = danglingMounts(live, object)
		}
	}
	if err != nil || len(rejected) == 0 {
		return nil, refusal
	}
	if _, err := s.removeFields(ctx, live, object.GroupKind, rejected); err != nil {
		return nil, err
	}
	return attached, s.applyOver(ctx, object.Configuration, client.FieldOwner(names.FieldOwner))
}

// danglingMounts returns the JSON pointers and the paths of mounts whose volume the operator removes.
func danglingMounts(live client.Object, object render.Object) (pointers, paths []string, err error) {
	mounts, err := drift.DanglingMounts(live, object.Configuration)
	for _, mount := range mounts {
		pointers, paths = append(pointers, mount.Pointer), append(paths, mount.Path)
	}
	return pointers, paths, err
}

// isOfHandlers reports whether the API server rejected only second handlers of hooks and probes. If so, it accepts the
// object once the first handlers are removed.
func isOfHandlers(refusal error) bool {
	fields := refusedFields(refusal)
	return len(fields) > 0 && !slices.ContainsFunc(fields, func(field string) bool {
		return !drift.IsHandler(field[strings.LastIndex(field, ".")+1:])
	})
}

// isOfMounts reports whether the API server rejected no field except names of volume mounts. It rejects such a name if
// the Pod has no volume of that name.
func isOfMounts(refusal error) bool {
	return !slices.ContainsFunc(refusedFields(refusal), func(field string) bool {
		return !strings.Contains(field, ".volumeMounts[") || !strings.HasSuffix(field, ".name")
	})
}

// removeFields removes fields from the object version that was read, and returns the resulting version.
func (s *Syncer) removeFields(
	ctx context.Context, live client.Object, kind schema.GroupKind, pointers []string,
) (client.Object, error) {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value string `json:"value,omitempty"`
	}
	// With an old resource version the API server returns a conflict.
	operations := []operation{{"replace", "/metadata/resourceVersion", live.GetResourceVersion()}}
	for _, pointer := range pointers {
		operations = append(operations, operation{Op: "remove", Path: pointer})
	}
	patch, err := json.Marshal(operations)
	if err != nil {
		return nil, err
	}
	answer := observe.New(kind)
	answer.SetNamespace(live.GetNamespace())
	answer.SetName(live.GetName())
	err = s.client.Patch(ctx, answer, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(names.FieldOwner))
	return answer, err
}
