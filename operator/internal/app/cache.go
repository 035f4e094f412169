package app

import (
	"net/http"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/cached"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/secrets"
)

// cacheOptions limits the cache to what the operator reads: the managed objects and the Pods with the operator's
// labels. Objects are cached without managed fields, and Pods only with the fields that the package observe reads.
// Reads return the cached objects without a copy, because the operator does not modify them.
func cacheOptions(operator *Options) cache.Options {
	managed := cache.ByObject{
		Label: observe.Selector(), Transform: cached.TrimObject, UnsafeDisableDeepCopy: new(true),
	}
	pods := managed
	pods.Transform = cached.TrimPod
	byObject := map[client.Object]cache.ByObject{
		&cachev1.Memcached{}: {Transform: cached.TrimMemcached}, &corev1.Pod{}: pods,
	}
	for _, kind := range observe.AllKinds() {
		managed.Label = kind.Selector()
		byObject[kind.New()] = managed
	}
	byObject[observe.ReplicaSet()] = cache.ByObject{
		Label: observe.Selector(), Transform: cached.TrimReplicaSet, UnsafeDisableDeepCopy: new(true),
	}
	byObject[&batchv1.Job{}] = cache.ByObject{
		Label: observe.JobSelector(), Transform: cached.TrimJob, UnsafeDisableDeepCopy: new(true),
	}
	return cacheOf(operator, byObject)
}

// secretCacheOptions limits a cache to the metadata of the Secrets that a Memcached may name. It is separate from the
// manager's cache, because that cache has the whole Secrets of bindings.
func secretCacheOptions(operator *Options) cache.Options {
	return cacheOf(operator, map[client.Object]cache.ByObject{
		&corev1.Secret{}: {Field: watchedSecrets(), Transform: cached.TrimSecret},
	})
}

// cacheOf returns options of a cache for objects in the namespaces that the operator serves.
func cacheOf(operator *Options, byObject map[client.Object]cache.ByObject) cache.Options {
	options := cache.Options{
		ByObject:         byObject,
		DefaultTransform: cache.TransformStripManagedFields(),
		SyncPeriod:       &operator.SyncPeriod,
	}
	if !operator.servesAll() {
		options.DefaultNamespaces = map[string]cache.Config{}
	}
	for _, namespace := range operator.WatchNamespaces {
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}

// watchedSecrets returns a field selector that excludes types of Secrets that no Memcached uses. Of the other Secrets,
// the operator requests only the metadata.
func watchedSecrets() fields.Selector {
	var others []fields.Selector
	for _, secretType := range secrets.UnwatchedTypes {
		others = append(others, fields.OneTermNotEqualSelector("type", string(secretType)))
	}
	return fields.AndSelectors(others...)
}

// restMapper returns a mapper that knows the kinds which the operator uses; all of them are namespaced, except Node. So
// the operator needs no API discovery, and works even if the discovery fails.
func restMapper(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	kinds := []schema.GroupVersionKind{
		cachev1.GroupVersion.WithKind("Memcached"),
		cachev1.GroupVersion.WithKind("MemcachedSnapshot"), observe.JobKind,
		corev1.SchemeGroupVersion.WithKind("Pod"),
		corev1.SchemeGroupVersion.WithKind("Secret"),
		observe.ReplicaSetKind,
	}
	for _, kind := range observe.AllKinds() {
		kinds = append(kinds, kind.GroupVersionKind)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range kinds {
		mapper.Add(kind, meta.RESTScopeNamespace)
		mapper.Add(kind.GroupVersion().WithKind(kind.Kind+"List"), meta.RESTScopeNamespace) // client-go does the same.
	}
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	return mapper, nil
}
