package integration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestANewCacheWithSlotsGivesEachPodOne(t *testing.T) {
	w := newSlotWorld(t)
	mc := w.memcachedWithSlots("cache", 3, cachev1.SlotsDNS)
	want := map[string]string{}
	for _, slot := range mc.Status.Slots {
		want[slot.Name] = slot.Pod
	}
	if diff := cmp.Diff(want, w.holders("cache")); diff != "" || len(want) != 3 || want["cache-2"] == "" {
		t.Errorf("slots in the EndpointSlice (-status +slice):\n%s", diff)
	}
	if address := mc.Status.Slots[1].Address; address != "cache-1.cache-slots."+w.namespace+".svc:11211" {
		t.Errorf("address %q", address)
	}
	service := get(w.world, "cache-slots", &corev1.Service{})
	if service.Spec.ClusterIP != corev1.ClusterIPNone || len(service.Spec.Selector) > 0 {
		t.Errorf("the Service of the slots: %+v", service.Spec)
	}
	w.restartsAtRest()
}

// TestACacheThatIsCreatedAgainKeepsItsSlots: a cache is deleted without its objects, and created again. The operator
// adopts the objects unchanged, so clients find the addresses at all times.
func TestACacheThatIsCreatedAgainKeepsItsSlots(t *testing.T) {
	w := newSlotWorld(t)
	mc := w.memcachedWithSlots("cache", 2, cachev1.SlotsClusterIP)
	holders, record := w.holders("cache"), get(w.world, "cache-slots-ipv4", &discoveryv1.EndpointSlice{})
	slot := get(w.world, "cache-0-ipv4", &discoveryv1.EndpointSlice{})
	w.Expect(cluster.Delete(w.ctx, mc, client.PropagationPolicy(metav1.DeletePropagationOrphan))).To(gomega.Succeed())
	w.Eventually(func() bool {
		return apierrors.IsNotFound(cluster.Get(w.ctx, client.ObjectKeyFromObject(mc), mc))
	}).Should(gomega.BeTrue())
	w.memcachedWithSlots("cache", 2, cachev1.SlotsClusterIP)
	if diff := cmp.Diff(holders, w.holders("cache")); diff != "" {
		t.Errorf("slots (-want +got):\n%s", diff)
	}
	for _, before := range []*discoveryv1.EndpointSlice{record, slot} {
		now := get(w.world, before.Name, &discoveryv1.EndpointSlice{})
		w.Expect(now.UID).To(gomega.Equal(before.UID), before.Name)
		w.Expect(now.Generation).To(gomega.Equal(before.Generation), before.Name)
	}
}

func TestTurningSlotsOnIsPendingFirst(t *testing.T) {
	w := newSlotWorld(t)
	mc := w.memcached("cache", 2)
	mc = w.reason(mc.Name, cachev1.ReasonAllPodsReady)
	nodes := mc.Status.Nodes
	w.patchSpec(`{"slots":{"mode":"DNS"}}`)
	w.waits("cache", "slots off -> on")
	mc = get(w.world, "cache", mc)
	w.Expect(mc.Status.Nodes).To(gomega.Equal(nodes))
	w.request("cache", "now")
	w.served("cache")
}

// TestScalingChangesTheListOnceTheKeysAreCopied: until the keys are copied, the size can change back without any effect
// on clients.
func TestScalingChangesTheListOnceTheKeysAreCopied(t *testing.T) {
	w := newSlotWorld(t)
	mc := w.memcachedWithSlots("cache", 2, cachev1.SlotsDNS)
	before := w.holders("cache")
	says := func(text string) {
		t.Helper()
		eventually(w.world, "cache", mc, func(mc *cachev1.Memcached) bool {
			condition := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReconciling)
			return condition != nil && strings.Contains(condition.Message, text)
		})
	}
	isListed := func(slots int) {
		t.Helper()
		eventually(w.world, "cache", mc, func(mc *cachev1.Memcached) bool { return len(mc.Status.Slots) == slots })
		w.reason("cache", cachev1.ReasonAllPodsReady)
	}
	unchanged := func() {
		t.Helper()
		if diff := cmp.Diff(before, w.holders("cache")); diff != "" {
			t.Errorf("slots before the keys were copied (-before +now):\n%s", diff)
		}
	}
	w.copies.Store(false)
	w.patchSpec(`{"size":4,"slots":{"clientHash":"Ketama","scaleOverlapSeconds":1}}`)
	says("slot cache-2 is being added")
	unchanged()
	w.patchSpec(`{"size":2}`)
	isListed(2)
	unchanged()

	w.copies.Store(true)
	w.patchSpec(`{"size":4}`)
	isListed(4)
	before = w.holders("cache")
	w.copies.Store(false)
	w.patchSpec(`{"size":3}`)
	says("slot cache-3 is being removed")
	unchanged()
	w.patchSpec(`{"size":4}`)
	isListed(4)
	unchanged()
	w.copies.Store(true)
	w.patchSpec(`{"size":3}`)
	isListed(3)
	delete(before, "cache-3")
	unchanged()
}
