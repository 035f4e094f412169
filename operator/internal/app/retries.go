package app

import (
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// firstRetry and longestRetry are the shortest and longest pause after a failed reconciliation. Each failure makes the
	// pause longer, including the failures of reconciliations that an event triggered. The cause of the failures may end
	// at any moment. With a longer pause, such as controller-runtime's default of a quarter of an hour, the operator would
	// change nothing in the cache until long after that moment.
	firstRetry, longestRetry = 5 * time.Millisecond, 15 * time.Second

	// retriesPerSecond and retriesBurst limit the retries of all Memcacheds together, as controller-runtime does by
	// default.
	retriesPerSecond, retriesBurst = 10, 100
)

// newRetries returns the rate limiter that decides when failed reconciliations are retried.
func newRetries() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, longestRetry),
		&workqueue.TypedBucketRateLimiter[reconcile.Request]{Limiter: rate.NewLimiter(retriesPerSecond, retriesBurst)},
	)
}
