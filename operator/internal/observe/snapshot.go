package observe

// The state on which saving and restoring a cache depend: the cache, the Job and its Pods.

import (
	"context"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/cached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// JobKind is the kind of the object that saves or restores a cache.
var JobKind = batchv1.SchemeGroupVersion.WithKind("Job")

// JobSelector selects the Jobs that are cached.
func JobSelector() labels.Selector {
	saves, err := labels.NewRequirement(names.LabelSnapshot, selection.Exists, nil)
	if err != nil {
		panic(err) // The label is a constant.
	}
	return labels.NewSelector().Add(*saves)
}

// SnapshotCollector reads the state on which saving and restoring depend. Pods of Jobs, and the addresses of Pods
// without a slot, are not cached: they are read from the API server while a snapshot needs them.
type SnapshotCollector struct {
	Cache client.Reader
	Live  client.Reader
}

// Memcached reads the cache of a MemcachedSnapshot; nil if there is none.
func (c SnapshotCollector) Memcached(
	ctx context.Context, wanted *cachev1.MemcachedSnapshot,
) (*cachev1.Memcached, error) {
	mc := &cachev1.Memcached{}
	key := client.ObjectKey{Namespace: wanted.Namespace, Name: wanted.Spec.MemcachedRef.Name}
	switch err := c.Cache.Get(ctx, key, mc); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !mc.DeletionTimestamp.IsZero():
		return nil, nil
	}
	return mc, nil
}

// Begin reads the rest of the state on which a new snapshot of a cache depends. It sends requests only for a cache that
// is Ready.
func (c SnapshotCollector) Begin(
	ctx context.Context, wanted *cachev1.MemcachedSnapshot, mc *cachev1.Memcached,
) (current plan.CurrentSnapshot, err error) {
	current.Memcached = mc
	current.Busy, current.MissingSecret, err = c.Needs(ctx, mc, wanted.Spec.To)
	if err != nil || current.Busy != "" || !isReady(mc) || len(mc.Status.Slots) > 0 {
		return current, err
	}
	list := &corev1.PodList{}
	err = c.Live.List(ctx, list, client.InNamespace(mc.Namespace), client.MatchingLabels(names.Selector(mc.Name)))
	for i := range list.Items {
		pod := &list.Items[i]
		belongs := cached.MemcachedOf(pod) == mc.Name && pod.DeletionTimestamp.IsZero()
		if belongs && cached.IsTrue(pod, corev1.PodReady) && pod.Status.PodIP != "" {
			current.Pods = append(current.Pods, plan.Server{Name: pod.Name, Address: pod.Status.PodIP})
		}
	}
	slices.SortFunc(current.Pods, func(a, b plan.Server) int { return strings.Compare(a.Name, b.Name) })
	return current, err
}

// Needs reads whether saving or restoring can begin: the Job that keeps the cache busy, and whether the Secret with the
// credentials is missing. It sends a request only for a cache that is Ready and not busy.
func (c SnapshotCollector) Needs(
	ctx context.Context, mc *cachev1.Memcached, place cachev1.SnapshotTarget,
) (busy string, isSecretMissing bool, err error) {
	if !isReady(mc) {
		return "", false, nil
	}
	if busy, err = c.busy(ctx, mc); err != nil || busy != "" {
		return busy, false, err
	}
	isSecretMissing, err = c.isSecretMissing(ctx, mc.Namespace, place)
	return "", isSecretMissing, err
}

func isReady(mc *cachev1.Memcached) bool {
	return mc != nil && meta.IsStatusConditionTrue(mc.Status.Conditions, cachev1.ConditionReady)
}

// busy returns the name of a Job of the cache that is not over; empty if there is none. Only one Job may run, because
// memcached can stand still if two clients list its keys at the same time.
func (c SnapshotCollector) busy(ctx context.Context, mc *cachev1.Memcached) (string, error) {
	list := &batchv1.JobList{}
	of := client.MatchingLabels{names.LabelSnapshot: mc.Name}
	if err := c.Cache.List(ctx, list, client.InNamespace(mc.Namespace), of); err != nil {
		return "", err
	}
	for i := range list.Items {
		if !IsJobOver(&list.Items[i]) {
			return list.Items[i].Name, nil
		}
	}
	return "", nil
}

// isSecretMissing reports whether the Secret with the credentials does not exist. It reads metadata only: the kubelet
// gives the content to the Job.
func (c SnapshotCollector) isSecretMissing(
	ctx context.Context, namespace string, place cachev1.SnapshotTarget,
) (bool, error) {
	if place.Credentials == nil || place.Credentials.SecretName == "" {
		return false, nil
	}
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(SecretKind)
	err := c.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: place.Credentials.SecretName}, secret)
	return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
}

// Job reads the Job of an object by its name. It returns taken if a Job with that name exists that the object does not
// control.
func (c SnapshotCollector) Job(
	ctx context.Context, owner client.Object, name string,
) (job *batchv1.Job, taken bool, err error) {
	return jobOf(ctx, c.Cache, owner, name)
}

// LiveJob reads the Job from the API server, because another client may have removed the label by which Jobs are
// cached.
func (c SnapshotCollector) LiveJob(
	ctx context.Context, owner client.Object, name string,
) (job *batchv1.Job, taken bool, err error) {
	return jobOf(ctx, c.Live, owner, name)
}

func jobOf(
	ctx context.Context, reader client.Reader, owner client.Object, name string,
) (job *batchv1.Job, taken bool, err error) {
	job = &batchv1.Job{}
	switch err := reader.Get(ctx, client.ObjectKey{Namespace: owner.GetNamespace(), Name: name}, job); {
	case apierrors.IsNotFound(err):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case !metav1.IsControlledBy(job, owner):
		return nil, true, nil
	}
	return job, false, nil
}

// Pods reads the Pods of a Job. While a Pod of the Job is ready and none has failed, it sends no request and returns no
// Pods, because such Pods report nothing.
func (c SnapshotCollector) Pods(ctx context.Context, job *batchv1.Job) ([]corev1.Pod, error) {
	if IsJobBusy(job) {
		return nil, nil
	}
	list := &corev1.PodList{}
	err := c.Live.List(ctx, list, client.InNamespace(job.Namespace), client.MatchingLabels{batchv1.JobNameLabel: job.Name})
	return slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool { return !metav1.IsControlledBy(&pod, job) }), err
}

// IsJobBusy reports whether a Pod of a Job runs, and none has failed.
func IsJobBusy(job *batchv1.Job) bool {
	ready := job.Status.Ready
	return ready != nil && *ready > 0 && job.Status.Failed == 0 && !IsJobOver(job)
}

// IsJobOver reports whether a Job has succeeded or failed.
func IsJobOver(job *batchv1.Job) bool { return EndOf(job).Type != "" }

// EndOf returns the condition with which a Job has ended: JobComplete or JobFailed; zero if the Job has not ended.
func EndOf(job *batchv1.Job) batchv1.JobCondition {
	for _, condition := range job.Status.Conditions {
		ended := condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed
		if ended && condition.Status == corev1.ConditionTrue {
			return condition
		}
	}
	return batchv1.JobCondition{}
}
