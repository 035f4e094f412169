package main

import (
	"context"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// fromCache makes the API server answer from its cache, as it does for informers. Each request needs a separate result
// of fromCache, because the client writes the label selector of the request into it.
func fromCache() client.ListOption {
	return &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}
}

// cached has a list for each kind that the operator caches, with the options that select the objects that it caches.
func cached() map[client.ObjectList][]client.ListOption {
	found := map[client.ObjectList][]client.ListOption{&cachev1.MemcachedList{}: {fromCache()}}
	for _, managed := range []client.ObjectList{
		&appsv1.DeploymentList{}, &corev1.ServiceList{}, &networkingv1.NetworkPolicyList{},
		&policyv1.PodDisruptionBudgetList{}, &corev1.PodList{},
	} {
		found[managed] = []client.ListOption{
			client.HasLabels{"memcached_cr"}, client.MatchingLabels{"app": "memcached"}, fromCache(),
		}
	}
	return found
}

// list lists all objects that the operator caches, with the requests of the operator's informers, and keeps none of
// them.
func list(ctx context.Context, kube client.Reader) error {
	work, ctx := errgroup.WithContext(ctx)
	for kind, options := range cached() {
		work.Go(func() error { return kube.List(ctx, kind, options...) })
	}
	return work.Wait()
}

// watch opens the same watches as the operator's informers. It decodes their events until the program ends, and keeps
// none of them.
func watch(ctx context.Context, kube client.WithWatch) error {
	for kind, options := range cached() {
		opened, err := kube.Watch(ctx, kind, options...)
		if err != nil {
			return err
		}
		go func() {
			for range opened.ResultChan() {
			}
		}()
	}
	return nil
}
