package cached

// Trims Jobs.

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TrimJob keeps the owner and the result of a Job.
func TrimJob(object any) (any, error) {
	job, ok := object.(*batchv1.Job)
	if !ok {
		return object, nil
	}
	return &batchv1.Job{
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
	}, nil
}
