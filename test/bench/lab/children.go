package lab

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/test/bench/floor/template"
)

// Child is a kind of child.
type Child struct {
	Resource string
	New      func() client.Object

	// Harm is a merge patch that changes a field of the operator's.
	Harm string

	api     string // beginning of its path
	applied func(context.Context, client.Client, client.ObjectKey) (any, error)
}

// Children are the kinds that a Memcached of three nodes has.
var Children = []Child{
	{
		Resource: "services", api: "api/v1", New: func() client.Object { return &corev1.Service{} },
		Harm:    `{"spec":{"selector":{"app":"another"}}}`,
		applied: extract(&corev1.Service{}, corev1ac.ExtractService),
	},
	{
		Resource: "deployments", api: "apis/apps/v1", New: func() client.Object { return &appsv1.Deployment{} },
		Harm:    `{"spec":{"replicas":1}}`,
		applied: extract(&appsv1.Deployment{}, appsv1ac.ExtractDeployment),
	},
	{
		Resource: "networkpolicies", api: "apis/networking.k8s.io/v1",
		New:     func() client.Object { return &networkingv1.NetworkPolicy{} },
		Harm:    `{"spec":{"policyTypes":["Ingress","Egress"]}}`,
		applied: extract(&networkingv1.NetworkPolicy{}, networkingv1ac.ExtractNetworkPolicy),
	},
	{
		Resource: "poddisruptionbudgets", api: "apis/policy/v1",
		New:     func() client.Object { return &policyv1.PodDisruptionBudget{} },
		Harm:    `{"spec":{"maxUnavailable":2}}`,
		applied: extract(&policyv1.PodDisruptionBudget{}, policyv1ac.ExtractPodDisruptionBudget),
	},
}

// extract reads an object and keeps the fields that the operator owns.
func extract[T client.Object, C any](
	empty T, owned func(T, string) (C, error),
) func(context.Context, client.Client, client.ObjectKey) (any, error) {
	return func(ctx context.Context, kube client.Client, key client.ObjectKey) (any, error) {
		object := empty.DeepCopyObject().(T)
		if err := kube.Get(ctx, key, object); err != nil {
			return nil, err
		}
		return owned(object, template.FieldOwner)
	}
}
