package actions

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Another step may have stopped the API server, so requests of the administrator are repeated for this long.
const (
	askPatience = 30 * time.Second
	askPause    = 100 * time.Millisecond
)

// ask sends a request, and repeats it while the API server does not answer it, cannot serve it, or reports a conflict.
// A request that depends on the stored object has to read it again in each attempt.
func ask(ctx context.Context, request func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, askPause, askPatience, true, func(ctx context.Context) (bool, error) {
		last = request(ctx)
		return isFinal(last), nil
	})
	if err != nil {
		return fmt.Errorf("no answer from the API server for %v: %w", askPatience, errors.Join(err, last))
	}
	return last
}

// attempt is like ask, but ignores some errors: the target does not exist, it already exists, or a limit that another
// step has set refuses the request.
func attempt(ctx context.Context, request func(context.Context) error) error {
	err := ask(ctx, request)
	if apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) || apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

// isFinal reports whether the API server has accepted or refused a request for good.
func isFinal(err error) bool {
	if err == nil {
		return true
	}
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return false
	}
	switch code := status.Status().Code; {
	case apierrors.IsAlreadyExists(err):
		return true
	case apierrors.IsConflict(err), apierrors.IsTooManyRequests(err):
		return false
	default:
		return 400 <= code && code < 500
	}
}
