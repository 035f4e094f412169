package access

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
)

func observed(t *testing.T, objects ...runtime.Object) Observed {
	t.Helper()
	cluster := Cluster{Objects: fake.NewSimpleDynamicClient(scheme, objects...)}
	o, err := cluster.Observe(t.Context(), client.ObjectKey{Namespace: "team", Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestTheDeploymentOfAnotherClientIsNotThatOfTheCache(t *testing.T) {
	mc := cachetest.Memcached("shop", cachev1.ReasonOwnershipConflict, "")
	own, other := cachetest.Deployment("shop", 3, 3), cachetest.Deployment("shop", 3, 3)
	other.OwnerReferences = nil
	for deployment, want := range map[*appsv1.Deployment]bool{own: true, other: false} {
		if got := observed(t, mc, deployment).Deployment != nil; got != want {
			t.Errorf("with the owners %v, the Deployment is that of the cache: %t", deployment.OwnerReferences, got)
		}
	}
}

func TestThePodsThatCopyKeysAreNoServers(t *testing.T) {
	mc := cachetest.Memcached("shop", cachev1.ReasonAllPodsReady, "")
	mc.Spec.Bootstrap = &cachev1.Bootstrap{}
	server, copier := cachetest.Pod("shop", "1aaaa", "node-a"), cachetest.Pod("shop", "2bbbb", "node-a")
	copier.Name = "shop-bootstrap-5d9c7b6f4-2bbbb"
	copier.Labels[names.LabelInstance] = names.BootstrapInstance("shop")
	copier.OwnerReferences[0].Name = "shop-bootstrap-5d9c7b6f4"
	for _, pod := range []*corev1.Pod{&server, &copier} {
		pod.Spec.NodeName = ""
	}
	o := observed(t, mc, &server, &copier)
	if len(o.Pods) != 1 || o.Pods[0].Name != server.Name || len(o.Bootstrap) != 1 || o.Bootstrap[0].Name != copier.Name {
		t.Errorf("got the servers %v and the Pods that copy %v", o.Pods, o.Bootstrap)
	}
}
