package apply

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// SyncBootstrap writes the next phase into the Pod that copies the keys of other servers. A Pod that was deleted needs
// nothing.
func (s *Syncer) SyncBootstrap(ctx context.Context, mc *cachev1.Memcached, wanted *plan.Bootstrap) error {
	if wanted == nil || wanted.Pod == nil || wanted.Pod.Phase == wanted.Phase {
		return nil
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: mc.Namespace, Name: wanted.Pod.Name}}
	err := s.patchPodMetadata(ctx, pod, map[string]any{
		"uid":         wanted.Pod.UID,
		"annotations": map[string]any{names.AnnotationBootstrap: wanted.Phase},
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && !isReplaced(err) {
		return fmt.Errorf("start the next phase of Pod %q: %w", wanted.Pod.Name, err)
	}
	return nil
}
