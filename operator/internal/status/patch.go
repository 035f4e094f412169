package status

// Makes the JSON patch from one status to another, which has only the changed items of long lists.

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/wI2L/jsondiff"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// JSONPatch returns the JSON patch (RFC 6902) from the status of a Memcached to another one. The patch applies only to
// the version of the Memcached that was read. For another version, the API server refuses the patch as a conflict, or
// as invalid if a path of the patch does not exist in that version.
func JSONPatch(mc *cachev1.Memcached, now cachev1.MemcachedStatus) ([]byte, error) {
	type object struct {
		Status cachev1.MemcachedStatus `json:"status"`
	}
	nodes := diffNodes(mc.Status.Nodes, now.Nodes)
	before := mc.Status
	before.Nodes, now.Nodes = nil, nil
	changes, err := jsondiff.Compare(object{before}, object{now})
	if err != nil {
		return nil, fmt.Errorf("compare the status: %w", err)
	}
	version := operation(jsondiff.OperationReplace, "/metadata/resourceVersion", mc.ResourceVersion)
	return json.Marshal(slices.Concat(jsondiff.Patch{version}, nodes, changes))
}

// diffNodes returns a patch that removes and inserts names of Pods. Each added or removed name changes the positions of
// most other names, so a comparison by position would find many changes.
func diffNodes(before, now []string) (patch jsondiff.Patch) {
	const path = "/status/nodes"
	at := func(index int) string { return fmt.Sprintf("%s/%d", path, index) }
	switch {
	case slices.Equal(before, now):
		return nil
	case len(now) == 0:
		return jsondiff.Patch{operation(jsondiff.OperationRemove, path, nil)}
	case len(before) == 0, !slices.IsSorted(before): // Another client may have written the names.
		return jsondiff.Patch{operation(jsondiff.OperationAdd, path, now)}
	}
	for i, name := range slices.Backward(before) {
		if _, found := slices.BinarySearch(now, name); !found {
			patch = append(patch, operation(jsondiff.OperationRemove, at(i), nil))
		}
	}
	for i, name := range now {
		if _, found := slices.BinarySearch(before, name); !found {
			patch = append(patch, operation(jsondiff.OperationAdd, at(i), name))
		}
	}
	return patch
}

func operation(kind, path string, value any) jsondiff.Operation {
	return jsondiff.Operation{Type: kind, Path: path, Value: value}
}
