package apply

import (
	"context"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// SyncBootstrap writes the next phase into the Pod that copies the keys of other servers.
func (s *Syncer) SyncBootstrap(ctx context.Context, mc *cachev1.Memcached, wanted *plan.Bootstrap) error {
	if wanted == nil || wanted.Pod == nil || wanted.Pod.Phase == wanted.Phase {
		return nil
	}
	return s.patchAnyVersion(ctx, mc, wanted.Pod.Name, "start the next phase of", map[string]any{
		"uid":         wanted.Pod.UID,
		"annotations": map[string]any{names.AnnotationBootstrap: wanted.Phase},
	})
}
