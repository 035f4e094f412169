package app

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// cacheOptions keeps the cache to what is read: children and Pods with our labels, without managed fields; of
// Pods no more than their names and labels.
func cacheOptions(namespaces []string) cache.Options {
	ours := cache.ByObject{Label: childSelector()}
	byObject := map[client.Object]cache.ByObject{
		&corev1.Pod{}: {Label: childSelector(), Transform: namesAndLabels},
	}
	for _, kind := range observe.Kinds() {
		byObject[kind.New()] = ours
	}
	options := cache.Options{
		ByObject:         byObject,
		DefaultTransform: cache.TransformStripManagedFields(),
	}
	if len(namespaces) > 0 {
		options.DefaultNamespaces = map[string]cache.Config{}
	}
	for _, namespace := range namespaces {
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

// namesAndLabels drops what nobody reads of a Pod's metadata: ten thousand caches have many Pods.
func namesAndLabels(object any) (any, error) {
	if pod, ok := object.(metav1.Object); ok {
		pod.SetManagedFields(nil)
		pod.SetAnnotations(nil)
		pod.SetOwnerReferences(nil)
		pod.SetFinalizers(nil)
	}
	return object, nil
}
