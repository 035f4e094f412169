package apply

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/discovery"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// SyncDiscovery announces the servers to Pods that answer clients with auto discovery. That does not depend on the rest
// of a Pod, so the patch holds for any version of it. A Pod that was deleted needs nothing.
func (s *Syncer) SyncDiscovery(ctx context.Context, mc *cachev1.Memcached, changes []discovery.Change) error {
	var errs []error
	for _, change := range changes {
		var label, list any
		if change.Answers {
			label, list = "true", change.List
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: mc.Namespace, Name: change.Pod}}
		err := s.patchPodMetadata(ctx, pod, map[string]any{
			"uid":         change.UID,
			"labels":      map[string]any{names.LabelDiscovery: label},
			"annotations": map[string]any{names.AnnotationDiscovery: list},
		})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && !isReplaced(err) {
			errs = append(errs, fmt.Errorf("announce the servers to Pod %q: %w", change.Pod, err))
		}
	}
	return errors.Join(errs...)
}
