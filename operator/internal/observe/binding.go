package observe

// The Secret of a binding, and the data that it copies from other Secrets.

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// addBinding adds the Secret of the binding, and those of former bindings. A list from the cache may miss the
// operator's own last writes, so each listed Secret is then read by its name.
func (c Collector) addBinding(ctx context.Context, mc *cachev1.Memcached, objects map[Key]client.Object) error {
	found := map[string]bool{}
	if mc.Spec.Binding != nil {
		found[mc.Spec.Binding.SecretName] = true
	}
	list := &corev1.SecretList{}
	err := c.Cache.List(ctx, list, client.InNamespace(mc.Namespace), client.MatchingFields{MemcachedIndex: mc.Name})
	if err != nil {
		return fmt.Errorf("list the Secrets of bindings: %w", err)
	}
	for i := range list.Items {
		found[list.Items[i].Name] = true
	}
	kind, _ := find(SecretKind.GroupKind())
	for name := range found {
		if err := addObject(ctx, c.Cache, client.ObjectKey{Namespace: mc.Namespace, Name: name}, kind, objects); err != nil {
			return err
		}
	}
	return nil
}

// bound returns the data that a binding copies from the Secrets that the spec names.
func (s Snapshot) bound() (bound plan.Bound) {
	if s.TLS != nil {
		bound.CA, bound.Versions = s.TLS.CA, "tls="+s.TLS.Version
	}
	if s.Auth != nil {
		bound.User = s.Auth.User
		if bound.Versions != "" {
			bound.Versions += ","
		}
		bound.Versions += "auth=" + s.Auth.Version
	}
	return bound
}
