package integration

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestAnOperatorServesTheNamespacesOfItsFlag does not run at the same time as other tests, because one of its operators
// serves all namespaces, and would serve the Memcacheds of other tests, too.
func TestAnOperatorServesTheNamespacesOfItsFlag(t *testing.T) {
	tests := map[string]struct {
		kubeconfig string
		start      func(w *world, namespaces []string)
		served     []bool
	}{
		"one, by flag": {
			kubeconfig: operatorKubeconfig,
			start:      func(w *world, ns []string) { w.startWith(nil, "--watch-namespaces="+ns[0]) },
			served:     []bool{true, false, false},
		},
		"one, by environment, as OLM does": {
			kubeconfig: operatorKubeconfig,
			start:      func(w *world, ns []string) { w.startWith([]string{"WATCH_NAMESPACE=" + ns[1]}) },
			served:     []bool{false, true, false},
		},
		"several": {
			kubeconfig: operatorKubeconfig,
			start:      func(w *world, ns []string) { w.startWith(nil, "--watch-namespaces="+strings.Join(ns[:2], ",")) },
			served:     []bool{true, true, false},
		},
		"all": {
			kubeconfig: clusterKubeconfig,
			start:      func(w *world, _ []string) { w.startWith([]string{"WATCH_NAMESPACE="}) },
			served:     []bool{true, true, true},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := emptyWorld(t, tc.kubeconfig)
			namespaces := []string{w.namespace, w.newNamespace(), w.newNamespace()}
			tc.start(w, namespaces)
			for _, namespace := range namespaces {
				w.Expect(cluster.Create(w.ctx, &cachev1.Memcached{
					ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cache"},
					Spec:       cachev1.MemcachedSpec{Size: new(int32(0))},
				})).To(gomega.Succeed())
			}
			served := func(namespace string) bool {
				mc := &cachev1.Memcached{}
				w.Expect(cluster.Get(w.ctx, client.ObjectKey{Namespace: namespace, Name: "cache"}, mc)).To(gomega.Succeed())
				return mc.Status.ObservedGeneration > 0
			}
			for i, namespace := range namespaces {
				if tc.served[i] {
					w.Eventually(func() bool { return served(namespace) }).Should(gomega.BeTrue())
				}
			}
			for i, namespace := range namespaces {
				if served(namespace) != tc.served[i] {
					t.Errorf("namespace %d: served %v, want %v", i, !tc.served[i], tc.served[i])
				}
			}
		})
	}
}
