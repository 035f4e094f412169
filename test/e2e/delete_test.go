//go:build e2e

package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
)

// foreign is the name of a namespace, and of a Memcached in it that is not in Git.
const foreign = "foreign"

const crd = "memcacheds.cache.example.com"

// rootIsDeleted deletes the root Application, checks what is deleted and what stays, and applies it again.
func (s *site) rootIsDeleted(t *testing.T) {
	mc := s.makeForeignCache(t)
	before := s.pods(t, foreign, foreign)
	kept := []client.Object{object("apiextensions.k8s.io/v1", "CustomResourceDefinition", crd),
		object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "memcachedsnapshots.cache.example.com"),
		object("v1", "Namespace", namespace), mc}
	uids := s.uids(t, kept)
	if len(uids) != len(kept) {
		t.Fatalf("of the objects that must stay, only these exist: %v", uids)
	}
	offset := s.auditEnd(t)

	s.deleteRoot(t)
	s.assertReverseOrder(t, s.writesSince(t, offset))
	s.assertGone(t, sample)
	for _, gone := range []*unstructured.Unstructured{
		object("v1", "Namespace", operatorNamespace),
		object("rbac.authorization.k8s.io/v1", "ClusterRole", "memcached-operator-manager-role"),
		object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "memcached-operator-manager-rolebinding"),
	} {
		s.assertObjectGone(t, gone)
	}
	if diff := cmp.Diff(uids, s.uids(t, kept)); diff != "" {
		t.Errorf("objects that must stay (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before, s.pods(t, foreign, foreign)); diff != "" {
		t.Errorf("Pods of the other cache (-before +after):\n%s", diff)
	}

	if err := s.ApplyRoot(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.healthy(t, s.head(t))
	s.assertServesAgain(t, mc, before)
	if diff := cmp.Diff(uids, s.uids(t, kept)); diff != "" {
		t.Errorf("what was there before the second bootstrap (-before +after):\n%s", diff)
	}
}

func (s *site) makeForeignCache(t *testing.T) *cachev1.Memcached {
	t.Helper()
	g := newGomega(t)
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: foreign}}
	mc := &cachev1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Namespace: foreign, Name: foreign}, Spec: cachev1.MemcachedSpec{Size: new(int32(2))},
	}
	g.Expect(s.Client.Create(t.Context(), space)).To(gomega.Succeed())
	t.Cleanup(func() { _ = s.Client.Delete(context.WithoutCancel(t.Context()), space) })
	g.Expect(s.Client.Create(t.Context(), mc)).To(gomega.Succeed())
	g.Eventually(func() bool {
		g.Expect(s.Client.Get(t.Context(), client.ObjectKeyFromObject(mc), mc)).To(gomega.Succeed())
		return isReady(mc)
	}).Should(gomega.BeTrue())
	return mc
}

// deleteRoot deletes the root Application, and waits until Argo CD has deleted all its Applications.
func (s *site) deleteRoot(t *testing.T) {
	t.Helper()
	g := newGomega(t)
	root := object("argoproj.io/v1alpha1", "Application", pipeline.RootApplication)
	root.SetNamespace(argoNamespace)
	g.Expect(s.Client.Delete(t.Context(), root)).To(gomega.Succeed())
	for _, name := range applications {
		g.Eventually(func() string {
			application, err := s.Application(t.Context(), name)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			return application.Health
		}).Should(gomega.Equal("Missing"), "the Application %s is deleted", name)
	}
}

func (s *site) assertObjectGone(t *testing.T, gone *unstructured.Unstructured) {
	t.Helper()
	newGomega(t).Eventually(func() bool {
		return apierrors.IsNotFound(s.Client.Get(t.Context(), client.ObjectKeyFromObject(gone), gone))
	}).Should(gomega.BeTrue(), "%s %s is deleted", gone.GetKind(), gone.GetName())
}

// assertReverseOrder: the operator is deleted only after the caches, so that it could still act on their deletion.
func (s *site) assertReverseOrder(t *testing.T, writes []request) {
	t.Helper()
	deleted := func(resource, name string) time.Time {
		for _, write := range writes {
			if write.Verb == "delete" && write.ObjectRef.Resource == resource && write.ObjectRef.Name == name {
				return write.Answered
			}
		}
		t.Fatalf("no client deleted %s %s", resource, name)
		return time.Time{}
	}
	order := []struct{ resource, name string }{
		{"applications", pipeline.RootApplication},
		{"applications", pipeline.SamplesApplication},
		{"memcacheds", sample},
		{"applications", pipeline.OperatorApplication},
		{"deployments", operatorName},
	}
	for i, next := range order[1:] {
		if deleted(next.resource, next.name).Before(deleted(order[i].resource, order[i].name)) {
			t.Errorf("%s was deleted before %s", next, order[i])
		}
	}
}

// assertServesAgain: the new operator manages the objects that the old one has left.
func (s *site) assertServesAgain(t *testing.T, mc *cachev1.Memcached, before map[string]types.UID) {
	t.Helper()
	s.assertReady(t, sample, len(s.pods(t, namespace, sample)))
	s.patch(t, mc, `{"spec":{"size":3}}`)
	g := newGomega(t)
	g.Eventually(func() bool {
		g.Expect(s.Client.Get(t.Context(), client.ObjectKeyFromObject(mc), mc)).To(gomega.Succeed())
		return isReady(mc) && mc.Status.ReadyReplicas == 3
	}).Should(gomega.BeTrue())
	after := s.pods(t, foreign, foreign)
	for name, uid := range before {
		g.Expect(after).To(gomega.HaveKeyWithValue(name, uid), "the Pods that were there stay")
	}
}

func object(apiVersion, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetName(name)
	return o
}

// uids returns the UIDs of those of the objects that exist and are not being deleted, by name.
func (s *site) uids(t *testing.T, objects []client.Object) map[string]types.UID {
	t.Helper()
	uids := map[string]types.UID{}
	for _, object := range objects {
		err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object)
		if err == nil && object.GetDeletionTimestamp().IsZero() {
			uids[object.GetName()] = object.GetUID()
		}
	}
	return uids
}
