package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestTurningSlotsOffRemovesTheirObjects(t *testing.T) {
	w := newSlotWorld(t)
	mc := w.memcachedWithSlots("cache", 2, cachev1.SlotsClusterIP)
	before := w.holders("cache")
	w.patchSpec(`{"slots":null}`)
	w.waits("cache", "slots on -> off")
	if diff := cmp.Diff(before, w.holders("cache")); diff != "" {
		t.Errorf("slots while the update is pending (-before +now):\n%s", diff)
	}
	w.request("cache", "now")
	mc = eventually(w.world, "cache", mc, func(mc *cachev1.Memcached) bool {
		return meta.IsStatusConditionTrue(mc.Status.Conditions, cachev1.ConditionReady) && len(mc.Status.Slots) == 0
	})
	for _, pod := range mc.Status.Nodes {
		w.Expect(get(w.world, pod, &corev1.Pod{}).Spec.ReadinessGates).To(gomega.BeEmpty())
	}
	w.Eventually(func() []string { return w.namesOfSlots() }).Should(gomega.BeEmpty())
}

// namesOfSlots returns the names of the Services and EndpointSlices of slots.
func (w *slotWorld) namesOfSlots() []string {
	w.t.Helper()
	services, slices := &corev1.ServiceList{}, &discoveryv1.EndpointSliceList{}
	w.Expect(cluster.List(w.ctx, services, client.InNamespace(w.namespace))).To(gomega.Succeed())
	w.Expect(cluster.List(w.ctx, slices, client.InNamespace(w.namespace))).To(gomega.Succeed())
	var found []string
	for i := range services.Items {
		if name := services.Items[i].Name; name != "cache" {
			found = append(found, name)
		}
	}
	for i := range slices.Items {
		found = append(found, slices.Items[i].Name)
	}
	return found
}

// TestAServiceOfFormerSlotsThatAnotherOperatorMadeAgainIsDeleted: if two operators run for a moment, one of them may
// not know yet that the cache no longer has slots, and create a Service of a slot again.
func TestAServiceOfFormerSlotsThatAnotherOperatorMadeAgainIsDeleted(t *testing.T) {
	w := newSlotWorld(t)
	w.memcachedWithSlots("cache", 2, cachev1.SlotsClusterIP)
	former := get(w.world, "cache-1", &corev1.Service{})
	w.patchSpec(`{"slots":null,"threads":2}`)
	w.Eventually(w.namesOfSlots).Should(gomega.BeEmpty())
	w.quiet()

	again := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Namespace: former.Namespace, Name: former.Name, Labels: former.Labels, Annotations: former.Annotations,
		OwnerReferences: former.OwnerReferences,
	}, Spec: corev1.ServiceSpec{Ports: former.Spec.Ports}}
	w.Expect(cluster.Create(w.ctx, again)).To(gomega.Succeed())
	w.Eventually(w.namesOfSlots).Should(gomega.BeEmpty())
}
