package integration

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/kubelet"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// drainWorld is a slotWorld with two Nodes for each cache. The test acts instead of the scheduler, and instead of the
// agents of terminating Pods.
type drainWorld struct{ *slotWorld }

// agentPatience is how long the agent of a terminating Pod waits until another Pod begins to copy its keys. A real
// agent waits 2 minutes.
const agentPatience = 5 * time.Second

// newDrainWorld starts an operator that serves one namespace, and has no right to read Nodes.
func newDrainWorld(t *testing.T) *drainWorld {
	t.Helper()
	w := &drainWorld{&slotWorld{}}
	w.place = w.placeOnNode
	startSlotWorld(t, w.slotWorld)
	return w
}

// rested creates a Memcached with two slots, and waits until its Pods are ready on the first of two Nodes.
func (w *drainWorld) rested(name string, timeout int32) (first, second *corev1.Node) {
	w.t.Helper()
	first = w.addNode(name, "-a")
	w.memcachedWithSlots(name, 2, cachev1.SlotsDNS, func(spec *cachev1.MemcachedSpec) {
		spec.Slots.Handoff = &cachev1.Handoff{TimeoutSeconds: &timeout}
	})
	return first, w.addNode(name, "-b")
}

func (w *drainWorld) addNode(cache, suffix string) *corev1.Node {
	w.t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: w.namespace + "-" + cache + suffix, Labels: map[string]string{"cache": w.namespace + "-" + cache},
	}}
	w.Expect(cluster.Create(w.ctx, node)).To(gomega.Succeed())
	w.t.Cleanup(func() { _ = cluster.Delete(context.WithoutCancel(w.ctx), node) })
	return node
}

// closes prevents the scheduling of Pods to a Node: by a cordon, or by a taint with this key.
func (w *drainWorld) closes(node *corev1.Node, taint string) {
	w.t.Helper()
	patched := node.DeepCopy()
	if patched.Spec.Unschedulable = taint == ""; taint != "" {
		patched.Spec.Taints = append(patched.Spec.Taints, corev1.Taint{Key: taint, Effect: corev1.TaintEffectNoSchedule})
	}
	w.Expect(cluster.Patch(w.ctx, patched, client.MergeFrom(node))).To(gomega.Succeed())
}

// evicts requests the eviction of all Pods of a cache on a Node again and again, as kubectl drain does, until the Node
// has no Pod of the cache. It returns how many evictions were refused.
func (w *drainWorld) evicts(cache string, node *corev1.Node) (refused int) {
	w.t.Helper()
	w.Eventually(func() (left []string) {
		for _, pod := range w.pods(cache) {
			if pod.Spec.NodeName != node.Name {
				continue
			}
			left = append(left, pod.Name)
			if pod.DeletionTimestamp == nil && apierrors.IsTooManyRequests(w.evict(pod.Name)) {
				refused++
			}
		}
		return left
	}).Should(gomega.BeEmpty(), "the Node is not empty")
	return refused
}

// evict requests the eviction of a Pod.
func (w *drainWorld) evict(pod string) error {
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: pod}}
	return cluster.SubResource("eviction").Create(w.ctx, object, &policyv1.Eviction{})
}

func (w *drainWorld) isDeleted(pod string) bool {
	key := client.ObjectKey{Namespace: w.namespace, Name: pod}
	return apierrors.IsNotFound(cluster.Get(w.ctx, key, &corev1.Pod{}))
}

func (w *drainWorld) placeOnNode(pod *corev1.Pod) bool {
	switch {
	case pod.Spec.NodeName == "":
		w.schedule(pod)
	case pod.DeletionTimestamp != nil && w.ends(pod):
		_ = cluster.Delete(w.ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
	default:
		return true
	}
	return false
}

// ends reports whether a terminating Pod may end: because another Pod has its slot, or because no other Pod has copied
// its keys in time.
func (w *drainWorld) ends(pod *corev1.Pod) bool {
	ordered, cache := kubelet.OrderOf(pod), pod.Labels["memcached_cr"]
	slice := &discoveryv1.EndpointSlice{}
	err := cluster.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: cache + "-slots-ipv4"}, slice)
	holds := err == nil && slices.ContainsFunc(slice.Endpoints, func(e discoveryv1.Endpoint) bool {
		return e.Hostname != nil && *e.Hostname == ordered.Slot && e.TargetRef.Name == pod.Name
	})
	if !holds {
		return true
	}
	pods := &corev1.PodList{}
	if cluster.List(w.ctx, pods, client.InNamespace(w.namespace)) != nil {
		return false
	}
	limit := agentPatience
	if slices.ContainsFunc(pods.Items, func(other corev1.Pod) bool {
		o := kubelet.OrderOf(&other)
		return o.Role == "receive" && o.Slot == ordered.Slot && other.Status.PodIP != ""
	}) {
		limit = time.Duration(*get(w.world, cache, &cachev1.Memcached{}).Spec.Slots.Handoff.TimeoutSeconds) * time.Second
	}
	grace := time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	return time.Since(pod.DeletionTimestamp.Add(-grace)) > limit
}

// schedule binds a Pod to one of its cache's Nodes that is not closed.
func (w *drainWorld) schedule(pod *corev1.Pod) {
	nodes := &corev1.NodeList{}
	cache := client.MatchingLabels{"cache": w.namespace + "-" + pod.Labels["memcached_cr"]}
	if cluster.List(w.ctx, nodes, cache) != nil {
		return
	}
	slices.SortFunc(nodes.Items, func(a, b corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	for i := range nodes.Items {
		node := &nodes.Items[i]
		if !isClosed(node) {
			_ = cluster.SubResource("binding").Create(w.ctx, pod, &corev1.Binding{
				Target: corev1.ObjectReference{Kind: "Node", Name: node.Name},
			})
			return
		}
	}
}

// isClosed reports whether Pods cannot be scheduled to a Node. It ignores the taint that each Node has until its
// kubelet is ready.
func isClosed(node *corev1.Node) bool {
	return node.Spec.Unschedulable || slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Key != corev1.TaintNodeNotReady
	})
}
