package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestClientsReachThePortsOfMemcachedAndItsMetricsAndNoOther(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	w.ready("cache")
	policy := get(w, "cache", &networkingv1.NetworkPolicy{})
	port := func(number int32) networkingv1.NetworkPolicyIngressRule {
		return networkingv1.NetworkPolicyIngressRule{
			Ports: []networkingv1.NetworkPolicyPort{{Protocol: new(corev1.ProtocolTCP), Port: new(intstr.FromInt32(number))}},
		}
	}
	want := []networkingv1.NetworkPolicyIngressRule{port(11211), port(9150)}
	if diff := cmp.Diff(want, policy.Spec.Ingress); diff != "" {
		t.Errorf("ingress (-want +got):\n%s", diff)
	}

	w.patchSpec(`{"networkPolicy":{"from":[{"podSelector":{}},{"ipBlock":{"cidr":"10.0.0.0/8"}}]}}`)
	eventually(w, "cache", policy, func(p *networkingv1.NetworkPolicy) bool { return len(p.Spec.Ingress[0].From) == 2 })
	w.patchSpec(`{"networkPolicy":{"from":[{"ipBlock":{"cidr":"ten"}}]}}`)
	w.reason("cache", cachev1.ReasonInvalidSpec)
	w.says("cache", "spec.ingress[0].from[0].ipBlock.cidr")
	w.patchSpec(`{"networkPolicy":{"from":null}}`)
	eventually(w, "cache", policy, func(p *networkingv1.NetworkPolicy) bool { return len(p.Spec.Ingress[0].From) == 0 })
	w.Expect(w.rollouts("cache")).To(gomega.Equal(1), "no Pod is replaced for it")
}

func TestANetworkPolicyIsDeletedOnlyIfItIsOwned(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	w.ready("cache")
	w.patchSpec(`{"networkPolicy":{"mode":"Disabled"}}`)
	key := client.ObjectKey{Namespace: w.namespace, Name: "cache"}
	w.Eventually(func() bool {
		return apierrors.IsNotFound(cluster.Get(w.ctx, key, &networkingv1.NetworkPolicy{}))
	}).Should(gomega.BeTrue())

	unowned := &networkingv1.NetworkPolicy{}
	unowned.Namespace, unowned.Name = w.namespace, "cache"
	unowned.Labels = map[string]string{"app": "memcached", "memcached_cr": "cache"}
	w.Expect(cluster.Create(w.ctx, unowned)).To(gomega.Succeed())
	w.patchSpec(`{"memory":"96Mi"}`)
	w.ready("cache")
	w.Expect(get(w, "cache", &networkingv1.NetworkPolicy{}).UID).To(gomega.Equal(unowned.UID))
	w.patchSpec(`{"networkPolicy":null}`)
	w.reason("cache", cachev1.ReasonOwnershipConflict)
}
