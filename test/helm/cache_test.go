//go:build e2e

package helm

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	deployed "github.com/example-inc/memcached-operator/internal/testing/site"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

const (
	team = "team" // the namespace of caches
	keys = 200
)

// held is a cache in which a client has stored keys.
type held struct {
	s    *site
	pods map[string]types.UID
}

func (s *site) hold(t *testing.T) held {
	t.Helper()
	s.apply(t, "sessions", 2)
	if stored := s.runClient(t, "set").Stored; stored != keys {
		t.Fatalf("%d of %d keys are stored", stored, keys)
	}
	return held{s: s, pods: s.pods(t)}
}

// still checks that no Pod was replaced, and no key is lost.
func (h held) still(t *testing.T) {
	t.Helper()
	if diff := cmp.Diff(h.pods, h.s.pods(t)); diff != "" {
		t.Errorf("Pods (-before +after):\n%s", diff)
	}
	if found := h.s.runClient(t, "get").Found; found != keys {
		t.Errorf("%d of %d keys are left", found, keys)
	}
}

// pods are the uids of the cache's Pods, by name.
func (s *site) pods(t *testing.T) map[string]types.UID {
	t.Helper()
	list := &corev1.PodList{}
	err := s.Client.List(t.Context(), list, client.InNamespace(team), client.MatchingLabels{"memcached_cr": "sessions"})
	if err != nil {
		t.Fatal(err)
	}
	uids := map[string]types.UID{}
	for _, pod := range list.Items {
		uids[pod.Name] = pod.UID
	}
	return uids
}

// apply creates a cache or changes its size, and waits until the operator has applied the change.
func (s *site) apply(t *testing.T, name string, size int32) {
	t.Helper()
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}}
	_, err := controllerutil.CreateOrPatch(t.Context(), s.Client, mc, func() error {
		mc.Spec.Size = new(size)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	gomega.NewWithT(t).Eventually(func() (string, error) {
		err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(mc), mc)
		condition := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady)
		if err != nil || condition == nil || mc.Status.ObservedGeneration != mc.Generation {
			return "not seen", err
		}
		return fmt.Sprintf("%s, %d ready", condition.Status, mc.Status.ReadyReplicas), nil
	}).WithTimeout(patience).Should(gomega.Equal(fmt.Sprintf("True, %d ready", size)), name)
}

// runClient makes a client set or get keys in the Pods of the cache.
func (s *site) runClient(t *testing.T, verb string) clientpod.Keys {
	t.Helper()
	mc := &cachev1.Memcached{}
	if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: team, Name: "sessions"}, mc); err != nil {
		t.Fatal(err)
	}
	args := append(clientpod.Reach(mc), verb, fmt.Sprintf("--keys=%d", keys))
	result, err := deployed.RunClient(t.Context(), s.Pipeline, team, s.images.Client, args...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (s *site) liveCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	live := &apiextensionsv1.CustomResourceDefinition{}
	if err := s.Client.Get(t.Context(), client.ObjectKey{Name: "memcacheds.cache.example.com"}, live); err != nil {
		t.Fatal(err)
	}
	return live
}

// exists reports whether the cluster has an object of this kind and name.
func (s *site) exists(t *testing.T, content map[string]any) bool {
	t.Helper()
	object := (&unstructured.Unstructured{Object: content}).DeepCopy()
	err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object)
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

func (s *site) awaitGone(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	gomega.NewWithT(t).Eventually(func() bool { return s.exists(t, object.Object) }).
		WithTimeout(patience).Should(gomega.BeFalse())
}
