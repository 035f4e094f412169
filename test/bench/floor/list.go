package main

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// list lists all that the operator caches, each kind as its informer does, and keeps nothing of it.
func list(ctx context.Context) error {
	config, err := connect()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), cachev1.AddToScheme(scheme)); err != nil {
		return err
	}
	kube, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	ours := client.HasLabels{"memcached_cr"}
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return kube.List(ctx, &cachev1.MemcachedList{}, fromCache) })
	for _, kind := range []client.ObjectList{
		&appsv1.DeploymentList{}, &corev1.ServiceList{}, &networkingv1.NetworkPolicyList{},
		&policyv1.PodDisruptionBudgetList{}, &corev1.PodList{},
	} {
		work.Go(func() error { return kube.List(ctx, kind, ours, client.MatchingLabels{"app": "memcached"}, fromCache) })
	}
	return work.Wait()
}

// fromCache lets the API server answer from its memory, as informers do.
var fromCache = &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}
