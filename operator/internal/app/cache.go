package app

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// cacheOptions keeps the cache to what is read: children and Pods with our labels, without managed fields; of
// Pods no more than what a node is told by.
func cacheOptions(operator *Options) cache.Options {
	ours := cache.ByObject{Label: childSelector()}
	byObject := map[client.Object]cache.ByObject{
		&corev1.Pod{}: {Label: childSelector(), Transform: observe.TrimPod},
	}
	for _, kind := range observe.Kinds() {
		byObject[kind.New()] = ours
	}
	options := cache.Options{
		ByObject:         byObject,
		DefaultTransform: cache.TransformStripManagedFields(),
		SyncPeriod:       &operator.SyncPeriod,
	}
	if len(operator.WatchNamespaces) > 0 {
		options.DefaultNamespaces = map[string]cache.Config{}
	}
	for _, namespace := range operator.WatchNamespaces {
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}

func childSelector() labels.Selector {
	instance, err := labels.NewRequirement(names.LabelInstance, selection.Exists, nil)
	if err != nil {
		panic(err) // The label is a constant.
	}
	return labels.SelectorFromSet(labels.Set{names.LabelApp: names.App}).Add(*instance)
}
