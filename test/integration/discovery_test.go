package integration

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// announced is the list of servers in the annotation of a Pod.
type announced struct {
	Version int64
	Nodes   []struct{ Host, IP string }
}

func (l announced) hosts() (hosts []string) {
	for _, node := range l.Nodes {
		hosts = append(hosts, node.Host)
	}
	return hosts
}

// answering returns the list of servers in each Pod of a cache that serves discovery, by the name of the Pod.
func (w *world) answering(cache string) map[string]announced {
	w.t.Helper()
	lists := map[string]announced{}
	for _, pod := range w.pods(cache) {
		list := announced{}
		_ = json.Unmarshal([]byte(pod.Annotations["cache.example.com/discovery"]), &list)
		if pod.Labels["cache.example.com/discovery"] == "true" && pod.DeletionTimestamp == nil {
			lists[pod.Name] = list
		}
	}
	return lists
}

// agreed waits until three Pods (or all, if the cache has fewer) have the same list of these servers, and returns the
// list.
func (w *world) agreed(cache string, servers func() []string) (list announced) {
	w.t.Helper()
	w.Eventually(func(g gomega.Gomega) {
		lists, want := w.answering(cache), servers()
		g.Expect(lists).To(gomega.HaveLen(min(3, len(w.pods(cache)))))
		for _, list = range lists {
			g.Expect(list.hosts()).To(gomega.Equal(want))
		}
		for _, other := range lists {
			g.Expect(other).To(gomega.Equal(list))
		}
	}).Should(gomega.Succeed())
	return list
}

// addresses returns the sorted addresses of the ready Pods of a cache.
func (w *world) addresses(cache string) (addresses []string) {
	w.t.Helper()
	for _, pod := range w.pods(cache) {
		isReady := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		if pod.DeletionTimestamp == nil && isReady {
			addresses = append(addresses, pod.Status.PodIP)
		}
	}
	slices.SortFunc(addresses, func(a, b string) int { return netip.MustParseAddr(a).Compare(netip.MustParseAddr(b)) })
	return addresses
}

func (w *slotWorld) withDiscovery(name string, size int32, slots *cachev1.Slots) {
	w.t.Helper()
	w.create(name, cachev1.MemcachedSpec{Size: &size, Slots: slots, Discovery: &cachev1.Discovery{}})
	w.reason(name, cachev1.ReasonAllPodsReady)
}

func TestDiscoveryAnnouncesTheReadyPods(t *testing.T) {
	w := newSlotWorld(t)
	w.withDiscovery("cache", 4, nil)
	now := func() []string { return w.addresses("cache") }
	first := w.agreed("cache", now)
	mc := get(w.world, "cache", &cachev1.Memcached{})
	if want := "cache-discovery." + w.namespace + ".svc:11211"; mc.Status.DiscoveryEndpoint != want {
		t.Errorf("status.discoveryEndpoint %q, want %q", mc.Status.DiscoveryEndpoint, want)
	}

	w.patchSpec(`{"size":5}`)
	w.reason("cache", cachev1.ReasonAllPodsReady)
	second := w.agreed("cache", now)
	for pod := range w.answering("cache") {
		w.Expect(cluster.Delete(w.ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: pod}})).
			To(gomega.Succeed())
	}
	w.reason("cache", cachev1.ReasonAllPodsReady)
	third := w.agreed("cache", now)
	if len(first.Nodes) != 4 || len(second.Nodes) != 5 || first.Version >= second.Version || second.Version >= third.Version {
		t.Errorf("the versions do not grow: %+v, %+v, %+v", first, second, third)
	}

	asked := w.restarts()
	if diff := cmp.Diff(third, w.agreed("cache", now)); diff != "" {
		t.Errorf("a restarted operator announces something else (-before +after):\n%s", diff)
	}
	if slices.Contains(asked, "patch pods") {
		t.Errorf("a restarted operator changes the Pods again: %v", asked)
	}
}

func TestDiscoveryWithSlotsAnnouncesTheirNamesOnce(t *testing.T) {
	w := newSlotWorld(t)
	w.withDiscovery("cache", 2, &cachev1.Slots{Mode: cachev1.SlotsClusterIP})
	names := func() []string { return []string{"cache-0." + w.namespace + ".svc", "cache-1." + w.namespace + ".svc"} }
	first := w.agreed("cache", names)
	for i, node := range first.Nodes {
		service := get(w.world, names()[i][:len("cache-0")], &corev1.Service{})
		if node.IP != service.Spec.ClusterIP {
			t.Errorf("%s has the IP %q, want that of its Service, %q", node.Host, node.IP, service.Spec.ClusterIP)
		}
	}
	w.patchSpec(`{"threads":2}`)
	w.reason("cache", cachev1.ReasonAllPodsReady)
	w.Eventually(func() int { return len(w.pods("cache")) }).Should(gomega.Equal(2))
	if diff := cmp.Diff(first, w.agreed("cache", names)); diff != "" {
		t.Errorf("after a rollout (-before +after):\n%s", diff)
	}
}

func TestDiscoveryIsPutBackAndTakenAway(t *testing.T) {
	w := newSlotWorld(t)
	w.withDiscovery("cache", 1, nil)
	list := w.agreed("cache", func() []string { return w.addresses("cache") })
	pod := w.pods("cache")[0]
	for _, edit := range []string{
		`{"metadata":{"annotations":{"cache.example.com/discovery":"broken"}}}`,
		`{"metadata":{"labels":{"cache.example.com/discovery":null}}}`,
	} {
		w.Expect(cluster.Patch(w.ctx, &pod, client.RawPatch("application/merge-patch+json", []byte(edit)))).To(gomega.Succeed())
		restored := w.agreed("cache", func() []string { return list.hosts() })
		if restored.Version < list.Version {
			t.Errorf("after %s the version is %d, and was %d", edit, restored.Version, list.Version)
		}
	}

	w.patchSpec(`{"discovery":null}`)
	w.reason("cache", cachev1.ReasonAllPodsReady)
	key := client.ObjectKey{Namespace: w.namespace, Name: "cache-discovery"}
	w.Eventually(func() bool { return apierrors.IsNotFound(cluster.Get(w.ctx, key, &corev1.Service{})) }).Should(gomega.BeTrue())
	if endpoint := get(w.world, "cache", &cachev1.Memcached{}).Status.DiscoveryEndpoint; endpoint != "" {
		t.Errorf("status.discoveryEndpoint is still %q", endpoint)
	}
}

func TestInvalidSpecSaysWhatDiscoveryNeeds(t *testing.T) {
	w := newRestrictedWorld(t)
	w.create("cache", cachev1.MemcachedSpec{Discovery: &cachev1.Discovery{}})
	mc := w.reason("cache", cachev1.ReasonInvalidSpec)
	message := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady).Message
	if !strings.HasPrefix(message, "spec.discovery needs rights that this operator was installed without "+
		"(patch pods, delete services): ") {
		t.Errorf("the status says %q", message)
	}
}
