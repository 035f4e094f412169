package app

import (
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// firstRetry and longestRetry are how long a Memcached waits whose reconciliation failed, the first time and at most.
	// Each failure counts, also one that an event called for, and a refusal may end at any moment: a longer wait, as the
	// quarter of an hour that is controller-runtime's default, would leave a cache as it is long after.
	firstRetry, longestRetry = 5 * time.Millisecond, 15 * time.Second

	// retriesPerSecond and retriesAtOnce bound the retries of all Memcacheds together, as controller-runtime's default
	// does.
	retriesPerSecond, retriesAtOnce = 10, 100
)

// newRetries decides when failed reconciliations are repeated.
func newRetries() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, longestRetry),
		&workqueue.TypedBucketRateLimiter[reconcile.Request]{Limiter: rate.NewLimiter(retriesPerSecond, retriesAtOnce)},
	)
}
