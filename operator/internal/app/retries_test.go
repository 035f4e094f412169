package app

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestAMemcachedThatFailedOftenIsTriedAgainWithinSeconds(t *testing.T) {
	retries := newRetries()
	often := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team", Name: "cache"}}
	if first := retries.When(often); first > firstRetry {
		t.Errorf("first after %s", first)
	}
	for range 50 {
		retries.When(often)
	}
	if wait := retries.When(often); wait != longestRetry {
		t.Errorf("after many failures it waits %s, want %s", wait, longestRetry)
	}
}
