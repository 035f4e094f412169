package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestAnOperatorOfThreeNamespacesReadsItsOwnWrites: each namespace has a separate watch, and each watch is late by a
// different time. If the operator decides from a state before its last write, the audit log has an unnecessary write or
// read.
func TestAnOperatorOfThreeNamespacesReadsItsOwnWrites(t *testing.T) {
	t.Parallel()
	const each = 100 // This many Memcacheds in each of three namespaces need 1,500 writes.
	w := emptyWorld(t, operatorKubeconfig)
	namespaces := []string{w.namespace, w.newNamespace(), w.newNamespace()}
	w.startWith(nil, "--watch-namespaces="+strings.Join(namespaces, ","))
	for i := range each {
		for _, namespace := range namespaces {
			w.Expect(cluster.Create(w.ctx, &cachev1.Memcached{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("cache", i)},
				Spec:       cachev1.MemcachedSpec{Size: new(int32(0))},
			})).To(gomega.Succeed())
		}
	}
	want := map[string]int{
		"patch services": each, "patch deployments": each, "patch networkpolicies": each, "patch memcacheds/status": 2 * each,
	}
	for _, namespace := range namespaces {
		w.Eventually(func() int { return scaledToZero(w, namespace) }).Should(gomega.Equal(each))
		got := map[string]int{}
		for _, request := range w.quietIn(namespace) {
			got[request]++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	}
}

// scaledToZero counts the Memcacheds of a namespace that report the expected reason, ScaledToZero.
func scaledToZero(w *world, namespace string) int {
	list := &cachev1.MemcachedList{}
	w.Expect(cluster.List(w.ctx, list, client.InNamespace(namespace))).To(gomega.Succeed())
	count := 0
	for _, mc := range list.Items {
		if ready := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady); ready != nil &&
			ready.Reason == cachev1.ReasonScaledToZero {
			count++
		}
	}
	return count
}
