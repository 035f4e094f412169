//go:build e2e

package placement

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/install"
	"github.com/example-inc/memcached-operator/internal/testing/nodes"
	"github.com/example-inc/memcached-operator/internal/testing/operator"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
)

// patience is how long steps may take that normally take a second or two.
const patience = 2 * time.Minute

// places is the number of Pods for each value of a label of their Nodes. Pods without a Node have the key nowhere.
type places map[string]int

const nowhere = "nowhere"

// world is a namespace, an operator that runs for one test, and the Nodes of that test.
type world struct {
	*gomega.WithT
	t         *testing.T
	ctx       context.Context
	namespace string
	by        string
}

// newWorld adds Nodes and starts an operator. All of these are deleted with the test, so tests run one after another.
func newWorld(t *testing.T, tc test) *world {
	t.Helper()
	w := &world{t: t, ctx: t.Context(), WithT: gomega.NewWithT(t), by: corev1.LabelArchStable}
	if tc.by != "" {
		w.by = tc.by
	}
	w.SetDefaultEventuallyTimeout(patience)
	w.SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	w.Expect(kube.Create(w.ctx, namespace)).To(gomega.Succeed())
	w.namespace = namespace.Name
	t.Cleanup(w.end)
	for _, node := range tc.machines {
		w.add(node)
	}
	w.startOperator(tc)
	return w
}

func (w *world) startOperator(tc test) {
	w.t.Helper()
	user, flags := "wide", []string(nil)
	if tc.narrow {
		user, flags = "narrow", []string{"--watch-namespaces=" + w.namespace}
		w.Expect(kube.Create(w.ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "narrow"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: install.Role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: narrowUser}},
		})).To(gomega.Succeed())
	}
	operator.Start(w.t, operatorBinary, filepath.Join(kubeconfigs, user), []string{"OPERAND_ARCHITECTURES=" + tc.operand}, flags...)
}

// end deletes the Nodes and the Memcached, because the operator of the next test must not see the Memcached. The Pods
// are deleted with the Nodes. The namespace controller deletes the namespace later.
func (w *world) end() {
	ctx := context.WithoutCancel(w.ctx)
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.key().Name}}
	if err := kube.Delete(ctx, mc); client.IgnoreNotFound(err) != nil {
		w.t.Error(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	if err := kube.Delete(ctx, namespace); err != nil {
		w.t.Error(err)
	}
	list := &corev1.NodeList{}
	if err := kube.List(ctx, list); err != nil {
		w.t.Error(err)
	}
	for _, node := range list.Items {
		if err := nodes.Remove(ctx, kube, node.Name); err != nil {
			w.t.Error(err)
		}
	}
}

func (w *world) key() client.ObjectKey {
	return client.ObjectKey{Namespace: w.namespace, Name: "cache"}
}

// create creates the Memcached.
func (w *world) create(spec string) {
	w.t.Helper()
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.key().Name}}
	w.Expect(json.Unmarshal([]byte(spec), &mc.Spec)).To(gomega.Succeed())
	w.Expect(kube.Create(w.ctx, mc)).To(gomega.Succeed())
}

// change merges these fields into the spec.
func (w *world) change(spec string) {
	w.t.Helper()
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.key().Name}}
	patch := fmt.Sprintf(`{"spec":%s}`, spec)
	w.Expect(kube.Patch(w.ctx, mc, client.RawPatch("application/merge-patch+json", []byte(patch)))).To(gomega.Succeed())
}

// add adds a Node under a name that no other test has.
func (w *world) add(node local.Node) {
	w.t.Helper()
	node.Labels = maps.Clone(node.Labels)
	node.Labels[byName] = node.Name
	node.Name = w.machine(node.Name)
	w.Expect(cluster.AddNode(w.ctx, node)).To(gomega.Succeed())
}

func (w *world) remove(name string) {
	w.t.Helper()
	w.Expect(nodes.Remove(w.ctx, kube, w.machine(name))).To(gomega.Succeed())
}

func (w *world) machine(name string) string { return name + "-" + w.namespace }

// settles waits until the Pods are on the expected Nodes, and the status for the current spec has this message.
func (w *world) settles(want places, says string) {
	w.t.Helper()
	w.Eventually(func() string {
		differs := cmp.Diff(want, w.places())
		if said := w.says(); !strings.Contains(said, says) {
			differs += fmt.Sprintf("status: %q\n  want: %q", said, says)
		}
		return differs
	}).Should(gomega.BeEmpty(), "places (-want +got)")
}

func (w *world) places() places {
	w.t.Helper()
	pods, nodes := &corev1.PodList{}, &corev1.NodeList{}
	w.Expect(kube.List(w.ctx, pods, client.InNamespace(w.namespace))).To(gomega.Succeed())
	w.Expect(kube.List(w.ctx, nodes)).To(gomega.Succeed())
	machines := map[string]string{"": nowhere}
	for _, node := range nodes.Items {
		machines[node.Name] = node.Labels[w.by]
	}
	found := places{}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp.IsZero() {
			found[machines[pod.Spec.NodeName]]++
		}
	}
	return found
}

// says returns the message of the condition Ready, if it is about the current spec.
func (w *world) says() string {
	w.t.Helper()
	mc := &cachev1.Memcached{}
	w.Expect(kube.Get(w.ctx, w.key(), mc)).To(gomega.Succeed())
	ready := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady)
	if ready == nil || ready.ObservedGeneration != mc.Generation {
		return ""
	}
	return ready.Message
}
