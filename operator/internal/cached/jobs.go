package cached

// Trims Jobs.

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// TrimJob keeps the owner and the result of a Job, and the annotations that say which snapshot the Job restores, and
// which servers the cache had.
func TrimJob(object any) (any, error) {
	job, ok := object.(*batchv1.Job)
	if !ok {
		return object, nil
	}
	trimmed := &batchv1.Job{
		TypeMeta: job.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{
			Name: job.Name, Namespace: job.Namespace, UID: job.UID, ResourceVersion: job.ResourceVersion,
			CreationTimestamp: job.CreationTimestamp, DeletionTimestamp: job.DeletionTimestamp,
			Labels: job.Labels, OwnerReferences: job.OwnerReferences,
		},
		Status: batchv1.JobStatus{
			Conditions: job.Status.Conditions, CompletionTime: job.Status.CompletionTime,
			Failed: job.Status.Failed, Ready: job.Status.Ready,
		},
	}
	keepAnnotations(&trimmed.ObjectMeta, &job.ObjectMeta, names.AnnotationRestores, names.AnnotationServers)
	return trimmed, nil
}
