package controller

// Indexes of what slots need.

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// indexSlots finds the objects of slots.
func indexSlots(mgr ctrl.Manager) error {
	ctx, indexer := context.Background(), mgr.GetFieldIndexer()
	for _, kind := range []client.Object{&corev1.Service{}, &discoveryv1.EndpointSlice{}, observe.ReplicaSet()} {
		err := indexer.IndexField(ctx, kind, observe.MemcachedIndex,
			func(object client.Object) []string { return []string{observe.InstanceOf(object)} })
		if err != nil {
			return err
		}
	}
	return nil
}
