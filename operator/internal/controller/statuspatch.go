package controller

// Sends a status: as a JSON patch if that is shorter than a merge patch.

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// patchStatus sends a status, and returns the Memcached as the API server answers. The status must not be written to a
// new Memcached with the same name. The resource version in the patch prevents this, because the API server ignores a
// uid there.
func (r *Reconciler) patchStatus(
	ctx context.Context, mc *cachev1.Memcached, now cachev1.MemcachedStatus,
) (*cachev1.Memcached, error) {
	patches, err := statusPatches(mc, now)
	if err != nil {
		return nil, err
	}
	var patched *cachev1.Memcached
	for _, patch := range patches {
		patched = mc.DeepCopy()
		err = r.client.Status().Patch(ctx, patched, patch)
		if !apierrors.IsInvalid(err) { // If it is, a path may not exist any more; the next patch gets a conflict.
			break
		}
	}
	return patched, err
}

// longMerge is the size in bytes from which a merge patch is compared with a JSON patch. A shorter merge patch is
// always used, because it is easier to read in an audit log.
const longMerge = 1 << 10

// statusPatches returns the patches to try. A merge patch contains each changed list as a whole, so it is large for a
// cache with many slots. A JSON patch contains only the items that changed.
func statusPatches(mc *cachev1.Memcached, now cachev1.MemcachedStatus) ([]client.Patch, error) {
	wanted := mc.DeepCopy()
	wanted.Status = now
	merge, err := client.MergeFromWithOptions(mc, client.MergeFromWithOptimisticLock{}).Data(wanted)
	if err != nil {
		return nil, fmt.Errorf("encode the status: %w", err)
	}
	patches := []client.Patch{client.RawPatch(types.MergePatchType, merge)}
	if len(merge) < longMerge {
		return patches, nil
	}
	items, err := status.JSONPatch(mc, now)
	if err != nil {
		return nil, err
	}
	if len(items) < len(merge) {
		patches = append([]client.Patch{client.RawPatch(types.JSONPatchType, items)}, patches...)
	}
	return patches, nil
}
