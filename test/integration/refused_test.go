package integration

import (
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// refused is a change to the spec that the operator refuses for a cache with slots.
const refused = `{"rollout":{"maxUnavailable":1}}`

// whileRefused makes the spec invalid, waits until slot 0 is nevertheless reported as cold for this reason, and
// corrects the spec.
func (h *handedOver) whileRefused(reason string) {
	h.t.Helper()
	h.change(refused)
	eventually(h.world, h.name, &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool {
		slot := mc.Status.Slots[0]
		return slot.State == cachev1.SlotCold && slot.Reason == reason && slot.Pod == h.holders(h.name)[slot.Name]
	})
	h.reason(h.name, cachev1.ReasonInvalidSpec)
	h.change(`{"rollout":{"maxUnavailable":null}}`)
}

// TestOwnershipConflictOfAServiceWithTheNameOfASlot creates Services with names that the operator would use for the
// Services of a cache with slots.
func TestOwnershipConflictOfAServiceWithTheNameOfASlot(t *testing.T) {
	w := newSlotWorld(t)
	foreign := map[string]*corev1.Service{}
	for _, name := range []string{"web-slots", "web-0"} {
		foreign[name] = &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
			Spec: corev1.ServiceSpec{
				Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 11211}},
			},
		}
		w.Expect(cluster.Create(w.ctx, foreign[name])).To(gomega.Succeed())
	}
	w.create("web", cachev1.MemcachedSpec{Size: new(int32(2)), Slots: &cachev1.Slots{Mode: cachev1.SlotsClusterIP}})
	slices := func() map[string]string {
		services := map[string]string{}
		for _, name := range []string{"web-slots", "web-0", "web-1"} {
			slice := &discoveryv1.EndpointSlice{}
			if cluster.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: name + "-ipv4"}, slice) == nil && len(slice.Endpoints) > 0 {
				services[name] = slice.Labels[discoveryv1.LabelServiceName]
			}
		}
		return services
	}
	w.Eventually(slices).Should(gomega.Equal(map[string]string{"web-slots": "", "web-0": "", "web-1": "web-1"}))
	mc := w.reason("web", cachev1.ReasonOwnershipConflict)
	w.Expect(mc.Status.Conditions).To(gomega.ContainElement(gomega.HaveField("Message", gomega.ContainSubstring(
		"; or set spec.slots.mode to DNS"))))
	for _, service := range foreign {
		w.Expect(cluster.Delete(w.ctx, service)).To(gomega.Succeed())
	}
	w.Eventually(slices).Should(gomega.Equal(map[string]string{"web-slots": "web-slots", "web-0": "web-0", "web-1": "web-1"}))
	w.reason("web", cachev1.ReasonAllPodsReady)
}
