package access

// The object that the API server would make of a manifest, and the state from which the operator would plan.

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/secrets"
)

// FieldManager is the field manager of the plugin.
const FieldManager = "kubectl-memcached"

// Applied returns the object that the API server would store for a manifest, validated and with defaults, and changes
// nothing. Fields that the manifest no longer has are removed in the same way as the client that applied the existing
// object would remove them. If manager is empty, Applied finds out the field manager of that client.
func (c Cluster) Applied(
	ctx context.Context, manifest *unstructured.Unstructured, live *cachev1.Memcached, manager string,
) (*cachev1.Memcached, error) {
	mc := &cachev1.Memcached{}
	mc.Namespace, mc.Name = manifest.GetNamespace(), manifest.GetName()
	if manager == "" {
		manager = managerOf(live)
	}
	if manager == "" && live != nil && live.Annotations[corev1.LastAppliedConfigAnnotation] != "" {
		return mc, c.appliedByClient(ctx, manifest, live, mc)
	}
	content, err := json.Marshal(manifest)
	if err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	if manager == "" {
		manager = FieldManager
	}
	return mc, c.Patch(ctx, mc, types.ApplyPatchType, content, metav1.PatchOptions{
		DryRun: []string{metav1.DryRunAll}, FieldManager: manager, Force: new(true),
	})
}

// managerOf returns the field manager that applied a Memcached by server-side apply, or "" if there is none.
func managerOf(live *cachev1.Memcached) string {
	if live == nil {
		return ""
	}
	for _, entry := range live.ManagedFields {
		if entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" {
			return entry.Manager
		}
	}
	return ""
}

// appliedByClient patches as kubectl apply does without --server-side.
func (c Cluster) appliedByClient(
	ctx context.Context, manifest *unstructured.Unstructured, live, result *cachev1.Memcached,
) error {
	modified, err := json.Marshal(manifest)
	if err != nil {
		return fmt.Errorf("encode the manifest: %w", err)
	}
	current, err := json.Marshal(live)
	if err != nil {
		return fmt.Errorf("encode the Memcached: %w", err)
	}
	original := []byte(live.Annotations[corev1.LastAppliedConfigAnnotation])
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(original, modified, current)
	if err != nil {
		return fmt.Errorf("compare with the annotation %s: %w", corev1.LastAppliedConfigAnnotation, err)
	}
	return c.Patch(ctx, result, types.MergePatchType, patch, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
}

// Current reads the state on which the operator's plan depends, except for Secrets: it assumes that they are usable.
func (c Cluster) Current(ctx context.Context, mc *cachev1.Memcached) (plan.Current, error) {
	reader := withoutSecrets{c}
	collector := observe.Collector{Cache: reader, Live: reader, Secrets: secrets.NewMemory(reader, time.Now)}
	snapshot, err := collector.Collect(ctx, mc, observe.Extras{
		Slots:       mc.Spec.Slots != nil || len(mc.Status.Slots) > 0,
		Certificate: mc.Status.Certificate != "",
	})
	if err != nil {
		return plan.Current{}, fmt.Errorf("read the objects of %s/%s: %w", mc.Namespace, mc.Name, err)
	}
	current := snapshot.Current()
	current.SecretsUsable = true
	return current, nil
}

// withoutSecrets reads no Secrets: it reports that they do not exist.
type withoutSecrets struct{ Cluster }

// Get reads an object. It does not read Secrets, but reports that they do not exist.
func (w withoutSecrets) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption,
) error {
	if _, isSecret := object.(*corev1.Secret); isSecret {
		return apierrors.NewNotFound(corev1.Resource("secrets"), key.Name)
	}
	return w.Cluster.Get(ctx, key, object, options...)
}
