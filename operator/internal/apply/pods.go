package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/cached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

// SyncPods changes the Pods of a cache with slots: their instructions, deletion costs and readiness gates. If a Pod was
// changed since it was read, SyncPods leaves out the Pod's change, and returns changed as true: the next reconciliation
// decides again what to change. written has the changes that were made.
func (s *Syncer) SyncPods(
	ctx context.Context, mc *cachev1.Memcached, snapshot observe.Snapshot, changes []slots.Change,
) (written []slots.Change, changed bool, err error) {
	var errs []error
	for _, change := range changes {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: mc.Namespace, Name: change.Pod}}
		version := snapshot.Versions[change.UID]
		switch err := s.syncPod(ctx, pod, change, version); {
		case apierrors.IsNotFound(err):
		case apierrors.IsConflict(err), isReplaced(err):
			changed = true
		case err != nil:
			errs = append(errs, fmt.Errorf("change Pod %q: %w", change.Pod, err))
		default:
			written = append(written, change)
		}
	}
	return written, changed, errors.Join(errs...)
}

func (s *Syncer) syncPod(ctx context.Context, pod *corev1.Pod, change slots.Change, version string) error {
	if annotations := annotationsOf(change); len(annotations) > 0 {
		metadata := map[string]any{"uid": change.UID, "resourceVersion": version, "annotations": annotations}
		if err := s.patchPodMetadata(ctx, pod, metadata); err != nil {
			return err
		}
		version = pod.ResourceVersion
	}
	if change.Gate != nil {
		if err := s.setGate(ctx, pod, change, version); err != nil {
			return err
		}
		version = pod.ResourceVersion
	}
	if change.Container != nil { // This write is the last, because a quota or a policy may refuse it.
		return s.resize(ctx, pod, change, version)
	}
	return nil
}

// setGate sets the condition of the readiness gate.
func (s *Syncer) setGate(ctx context.Context, pod *corev1.Pod, change slots.Change, version string) error {
	status := corev1.ConditionFalse
	if *change.Gate {
		status = corev1.ConditionTrue
	}
	// The strategic merge patch keeps the other conditions, which the kubelet writes. The answer is the whole Pod.
	patch := client.RawPatch(types.StrategicMergePatchType, mustEncode(map[string]any{
		"metadata": map[string]any{"uid": change.UID, "resourceVersion": version},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": names.HasSlot, "status": status, "lastTransitionTime": metav1.Now(),
		}}},
	}))
	return s.client.Status().Patch(ctx, pod, patch, client.FieldOwner(names.FieldOwner))
}

// resize changes the memory of memcached's container in the spec of a Pod. The kubelet then resizes the container
// without a restart.
func (s *Syncer) resize(ctx context.Context, pod *corev1.Pod, change slots.Change, version string) error {
	patch := client.RawPatch(types.StrategicMergePatchType, mustEncode(map[string]any{
		"metadata": map[string]any{"uid": change.UID, "resourceVersion": version},
		"spec": map[string]any{"containers": []any{map[string]any{
			"name": names.Container, "resources": cached.Memory(*change.Container).Requirements(),
		}}},
	}))
	err := s.client.SubResource("resize").Patch(ctx, pod, patch, client.FieldOwner(names.FieldOwner))
	if apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) { // The server does not know the path.
		return errors.New("the cluster can't resize running Pods, which needs Kubernetes 1.33 or later: set " +
			"spec.rollout.memoryChange to Replace")
	}
	return err
}

// patchAnyVersion changes metadata that does not depend on the rest of a Pod, so the patch applies to any version of
// the Pod. A deleted Pod is not an error. An error begins with the argument what, which states what the patch is for.
func (s *Syncer) patchAnyVersion(
	ctx context.Context, mc *cachev1.Memcached, name, what string, metadata map[string]any,
) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: mc.Namespace, Name: name}}
	err := s.patchPodMetadata(ctx, pod, metadata)
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || isReplaced(err) {
		return nil
	}
	return fmt.Errorf("%s Pod %q: %w", what, name, err)
}

func (s *Syncer) patchPodMetadata(ctx context.Context, pod *corev1.Pod, metadata map[string]any) error {
	patch := client.RawPatch(types.MergePatchType, mustEncode(map[string]any{"metadata": metadata}))
	return s.client.Patch(ctx, pod, patch, client.FieldOwner(names.FieldOwner))
}

// annotationsOf returns the annotations that a change sets or removes; nil is the value of an annotation to remove.
func annotationsOf(change slots.Change) map[string]any {
	annotations := map[string]any{}
	if change.Instruction != nil {
		annotations[names.AnnotationHandoff] = orNil(change.Instruction.Encode())
	}
	if change.Cost != nil {
		annotations[corev1.PodDeletionCost] = nil
		if *change.Cost != slots.CostHolder {
			annotations[corev1.PodDeletionCost] = strconv.Itoa(int(*change.Cost))
		}
	}
	return annotations
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// isReplaced reports whether the API server rejected the uid: another Pod has the name.
func isReplaced(err error) bool {
	return slices.Contains(refusedFields(err), "metadata.uid")
}

func mustEncode(value any) []byte {
	content, err := json.Marshal(value)
	if err != nil {
		panic(err) // The value consists of texts and numbers, which can be encoded.
	}
	return content
}
