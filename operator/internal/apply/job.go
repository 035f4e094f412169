package apply

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// CreateJob applies a Job that must not exist yet, as create does, and reports whether another Job has its name. A Job
// is never changed: its Pod template is immutable.
func CreateJob(ctx context.Context, writer Client, job *batchv1ac.JobApplyConfiguration) (taken bool, err error) {
	job.WithResourceVersion(noResourceVersion)
	err = writer.Apply(ctx, job, client.FieldOwner(names.FieldOwner))
	switch {
	case apierrors.IsConflict(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("create the Job: %w", err)
	}
	return false, nil
}
