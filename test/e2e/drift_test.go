//go:build e2e

package e2e

import (
	"testing"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// added is the key of the labels and annotations that the test adds to objects that come from Git.
const added = "example.com/added"

// driftIsPutBack: Argo CD restores the fields that are in Git, the operator restores the fields that it manages, and
// neither changes other fields.
func (s *site) driftIsPutBack(t *testing.T) {
	g := newGomega(t)
	want := *s.memcached(t, sample)
	s.patch(t, s.manager(t), `{"metadata":{"labels":{"`+added+`":"label"}},
		"spec":{"replicas":0,"template":{"spec":{"containers":[{"name":"manager","image":"registry.example.com/wrong:1"}]}}}}`)
	s.patch(t, s.memcached(t, sample), `{"metadata":{"labels":{"app.kubernetes.io/name":"wrong","`+added+`":"label"}},
		"spec":{"size":1,"service":{"metadata":{"annotations":{"`+added+`":"annotation"}}}}}`)

	g.Eventually(func(g gomega.Gomega) {
		manager := s.manager(t)
		g.Expect(*manager.Spec.Replicas).To(gomega.Equal(int32(1)))
		g.Expect(manager.Spec.Template.Spec.Containers[0].Image).To(gomega.Equal(s.images.Operator))
		g.Expect(manager.Status.ReadyReplicas).To(gomega.Equal(int32(1)))
	}).Should(gomega.Succeed())
	g.Eventually(func(g gomega.Gomega) {
		mc := s.memcached(t, sample)
		g.Expect(mc.Spec.Size).To(gomega.Equal(want.Spec.Size))
		g.Expect(mc.Labels).To(gomega.HaveKeyWithValue("app.kubernetes.io/name", want.Labels["app.kubernetes.io/name"]))
	}).Should(gomega.Succeed())
	s.healthy(t, s.head(t))
	s.assertReady(t, sample, int(*want.Spec.Size))

	g.Expect(s.manager(t).Labels).To(gomega.HaveKeyWithValue(added, "label"))
	mc := s.memcached(t, sample)
	g.Expect(mc.Labels).To(gomega.HaveKeyWithValue(added, "label"))
	g.Expect(mc.Spec.Service.Metadata.Annotations).To(gomega.HaveKeyWithValue(added, "annotation"))

	s.operatorRestoresManagedObjects(t)
	s.removeWhatWasAdded(t)
}

// operatorRestoresManagedObjects: Argo CD shows the managed objects in its tree, but only the operator restores them.
func (s *site) operatorRestoresManagedObjects(t *testing.T) {
	t.Helper()
	g := newGomega(t)
	key := client.ObjectKey{Namespace: namespace, Name: sample}
	for _, child := range []client.Object{&appsv1.Deployment{}, &corev1.Service{}} {
		g.Expect(s.Client.Get(t.Context(), key, child)).To(gomega.Succeed())
		before := child.GetUID()
		g.Expect(s.Client.Delete(t.Context(), child)).To(gomega.Succeed())
		g.Eventually(func() bool {
			err := s.Client.Get(t.Context(), key, child)
			return err == nil && child.GetUID() != before
		}).Should(gomega.BeTrue(), "%T is back", child)
	}
	deployment := &appsv1.Deployment{}
	g.Expect(s.Client.Get(t.Context(), key, deployment)).To(gomega.Succeed())
	s.patch(t, deployment, `{"metadata":{"labels":{"`+added+`":"label"}},
		"spec":{"template":{"spec":{"containers":[{"name":"memcached","image":"registry.example.com/wrong:1"}]}}}}`)
	g.Eventually(func(g gomega.Gomega) {
		g.Expect(s.Client.Get(t.Context(), key, deployment)).To(gomega.Succeed())
		g.Expect(deployment.Spec.Template.Spec.Containers[0].Image).To(gomega.Equal(s.images.Memcached))
		g.Expect(isReady(s.memcached(t, sample))).To(gomega.BeTrue())
	}).Should(gomega.Succeed())
	g.Expect(deployment.Labels).To(gomega.HaveKeyWithValue(added, "label"))
}

func (s *site) removeWhatWasAdded(t *testing.T) {
	t.Helper()
	s.patch(t, s.manager(t), `{"metadata":{"labels":{"`+added+`":null}}}`)
	s.patch(t, s.memcached(t, sample), `{"metadata":{"labels":{"`+added+`":null}},"spec":{"service":null}}`)
	s.healthy(t, s.head(t))
}

// patch changes an object as another client with kubectl does.
func (s *site) patch(t *testing.T, object client.Object, change string) {
	t.Helper()
	kind := types.StrategicMergePatchType
	if _, custom := object.(*cachev1.Memcached); custom {
		kind = types.MergePatchType
	}
	err := s.Client.Patch(t.Context(), object, client.RawPatch(kind, []byte(change)), client.FieldOwner("by-hand"))
	if err != nil {
		t.Fatal(err)
	}
}
