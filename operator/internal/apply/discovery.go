package apply

import (
	"context"
	"errors"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/discovery"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// SyncDiscovery announces the servers to Pods that answer clients with auto discovery.
func (s *Syncer) SyncDiscovery(ctx context.Context, mc *cachev1.Memcached, changes []discovery.Change) error {
	var errs []error
	for _, change := range changes {
		var label, list any
		if change.Answers {
			label, list = "true", change.List
		}
		errs = append(errs, s.patchAnyVersion(ctx, mc, change.Pod, "announce the servers to", map[string]any{
			"uid":         change.UID,
			"labels":      map[string]any{names.LabelDiscovery: label},
			"annotations": map[string]any{names.AnnotationDiscovery: list},
		}))
	}
	return errors.Join(errs...)
}
