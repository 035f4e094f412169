package app

import (
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// firstRetry and longestRetry are the shortest and longest pause after a failed reconciliation. Each failure
	// counts, including those that an event triggered, and the cause may end at any moment: with longer pauses, such as
	// controller-runtime's default of a quarter of an hour, a cache would stay as it is long after that.
	firstRetry, longestRetry = 5 * time.Millisecond, 15 * time.Second

	// retriesPerSecond and retriesBurst limit the retries of all Memcacheds together, as controller-runtime does by
	// default.
	retriesPerSecond, retriesBurst = 10, 100
)

// newRetries decides when failed reconciliations are retried.
func newRetries() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, longestRetry),
		&workqueue.TypedBucketRateLimiter[reconcile.Request]{Limiter: rate.NewLimiter(retriesPerSecond, retriesBurst)},
	)
}
