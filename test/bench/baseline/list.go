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

// fromCache makes the API server answer from its memory, as for informers.
var fromCache = &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}

// list lists all that the operator caches, each kind as the operator's informer does, and keeps nothing of it.
func list(ctx context.Context, kube client.Reader) error {
	managed := []client.ListOption{client.HasLabels{"memcached_cr"}, client.MatchingLabels{"app": "memcached"}, fromCache}
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return kube.List(ctx, &cachev1.MemcachedList{}, fromCache) })
	for _, kind := range []client.ObjectList{
		&appsv1.DeploymentList{}, &corev1.ServiceList{}, &networkingv1.NetworkPolicyList{},
		&policyv1.PodDisruptionBudgetList{}, &corev1.PodList{},
	} {
		work.Go(func() error { return kube.List(ctx, kind, managed...) })
	}
	return work.Wait()
}
