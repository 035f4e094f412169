package integration

import (
	"context"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// cordonWorld is a world with two Nodes for each cache, whose operator sees them. The test plays the scheduler, too.
type cordonWorld struct {
	*slotWorld

	// full is the cache whose second Node has no room for another Pod.
	full string
}

// newCordonWorld does not run beside other tests: only an operator that serves all namespaces sees Nodes, and it would
// serve those of other tests. Nodes and rights are deleted when the test ends.
func newCordonWorld(t *testing.T) *cordonWorld {
	t.Helper()
	w := &cordonWorld{slotWorld: &slotWorld{world: emptyWorld(t, clusterKubeconfig)}}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-slots"}, Rules: w.slotRules()}
	w.create(role)
	w.create(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: clusterOperatorUser}},
	})
	w.place = w.placeOnNode
	w.startWith([]string{"SLOTS=true", "WATCH_NAMESPACE="})
	w.play()
	return w
}

// create creates an object outside of the namespace, and deletes it when the test ends.
func (w *cordonWorld) create(object client.Object) {
	w.t.Helper()
	w.Expect(cluster.Create(w.ctx, object)).To(gomega.Succeed())
	w.t.Cleanup(func() { _ = cluster.Delete(context.WithoutCancel(w.ctx), object) })
}

// rested creates a Memcached with two slots, and two Nodes with a Pod each.
func (w *cordonWorld) rested(name string, timeout int32) {
	w.t.Helper()
	for _, suffix := range []string{"-a", "-b"} {
		w.create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: w.namespace + "-" + name + suffix, Labels: map[string]string{"cache": w.namespace + "-" + name},
		}})
	}
	w.Expect(cluster.Create(w.ctx, &cachev1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec: cachev1.MemcachedSpec{
			Size: new(int32(2)), Slots: &cachev1.Slots{Handoff: &cachev1.Handoff{TimeoutSeconds: &timeout}},
		},
	})).To(gomega.Succeed())
}

// cordon cordons the Node of a Pod.
func (w *cordonWorld) cordon(pod string) {
	w.t.Helper()
	node := &corev1.Node{}
	key := client.ObjectKey{Name: get(w.world, pod, &corev1.Pod{}).Spec.NodeName}
	w.Expect(cluster.Get(w.ctx, key, node)).To(gomega.Succeed())
	patched := node.DeepCopy()
	patched.Spec.Unschedulable = true
	w.Expect(cluster.Patch(w.ctx, patched, client.MergeFrom(node))).To(gomega.Succeed())
}

// evict asks for the eviction of a Pod, as a drain does.
func (w *cordonWorld) evict(pod string) error {
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: pod}}
	return cluster.SubResource("eviction").Create(w.ctx, object, &policyv1.Eviction{})
}

// allowed returns how many Pods a drain may evict, as the PodDisruptionBudget of a cache says.
func (w *cordonWorld) allowed(name string) int {
	return get(w.world, name, &policyv1.PodDisruptionBudget{}).Spec.MaxUnavailable.IntValue()
}

func (w *cordonWorld) placeOnNode(pod *corev1.Pod) bool {
	switch {
	case pod.DeletionTimestamp != nil:
		_ = cluster.Delete(w.ctx, pod, client.GracePeriodSeconds(0))
	case pod.Spec.NodeName == "":
		w.schedule(pod)
	default:
		return true
	}
	return false
}

// schedule binds a Pod to the Node with the fewest Pods, of those for its cache that are not cordoned.
func (w *cordonWorld) schedule(pod *corev1.Pod) {
	name := pod.Labels["memcached_cr"]
	nodes, pods := &corev1.NodeList{}, &corev1.PodList{}
	if cluster.List(w.ctx, nodes, client.MatchingLabels{"cache": w.namespace + "-" + name}) != nil ||
		cluster.List(w.ctx, pods, client.InNamespace(w.namespace)) != nil {
		return
	}
	on := map[string]int{}
	for i := range pods.Items {
		on[pods.Items[i].Spec.NodeName]++
	}
	best := ""
	for i := range nodes.Items {
		node := &nodes.Items[i]
		switch {
		case node.Spec.Unschedulable && name == w.full:
			return
		case !node.Spec.Unschedulable && (best == "" || on[node.Name] < on[best]):
			best = node.Name
		}
	}
	if best != "" {
		_ = cluster.SubResource("binding").Create(w.ctx, pod, &corev1.Binding{
			Target: corev1.ObjectReference{Kind: "Node", Name: best},
		})
	}
}
