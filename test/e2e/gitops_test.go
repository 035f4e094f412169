//go:build e2e

package e2e

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/demo/chain"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

const keys = 200

// TestAPushToGitEndsInAMemcachedThatAnswers is one story: each chapter begins where the one before it ended.
func TestAPushToGitEndsInAMemcachedThatAnswers(t *testing.T) {
	chapters := []struct {
		name string
		tell func(*testing.T)
	}{
		{"a commit makes a cache of three nodes that hold a client's keys", aCommitMakesACache},
		{"a commit makes it five nodes", aCommitScalesIt},
		{"what is deleted or changed by hand is put right", whatIsBrokenIsPutRight},
		{"another build of the operator replaces no node and loses no key", anotherOperatorLosesNothing},
		{"a bad commit is told of, breaks nothing, and the next one recovers", aBadCommitBreaksNothing},
		{"what is removed from Git is gone", whatIsRemovedIsGone},
	}
	for _, chapter := range chapters {
		if !t.Run(chapter.name, chapter.tell) {
			t.FailNow()
		}
	}
}

func aCommitMakesACache(t *testing.T) {
	healthy(t, commitCache(t, "story", "{size: 3}"))
	assertNodes(t, 3)

	storeKeys(t, "story", keys)

	want := chain.Keys{Found: keys}
	got := readKeys(t, "story", keys)
	if len(got.Nodes) != 3 {
		t.Errorf("the name resolves to %v, want three nodes", got.Nodes)
	}
	got.Nodes = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what a second client finds (-want +got):\n%s", diff)
	}
}

func aCommitScalesIt(t *testing.T) {
	healthy(t, commitCache(t, "story", "{size: 5}"))
	assertNodes(t, 5)
}

// assertNodes checks that the status names just the Pods that there are.
func assertNodes(t *testing.T, size int) {
	t.Helper()
	names := slices.Sorted(maps.Keys(nodes(t, namespace, "story")))
	if len(names) != size {
		t.Errorf("Pods %v, want %d", names, size)
	}
	if diff := cmp.Diff(names, memcached(t, "story").Status.Nodes); diff != "" {
		t.Errorf("status.nodes (-Pods +status):\n%s", diff)
	}
}

func whatIsBrokenIsPutRight(t *testing.T) {
	g := newGomega(t)
	key := client.ObjectKey{Namespace: namespace, Name: "story"}
	for _, child := range []client.Object{&appsv1.Deployment{}, &corev1.Service{}} {
		g.Expect(c.Client.Get(t.Context(), key, child)).To(gomega.Succeed())
		before := child.GetUID()
		g.Expect(c.Client.Delete(t.Context(), child)).To(gomega.Succeed())
		g.Eventually(func() bool {
			err := c.Client.Get(t.Context(), key, child)
			return err == nil && child.GetUID() != before
		}).Should(gomega.BeTrue(), "%T is back", child)
	}
	deployment := &appsv1.Deployment{}
	g.Expect(c.Client.Get(t.Context(), key, deployment)).To(gomega.Succeed())
	byHand := client.RawPatch("application/strategic-merge-patch+json",
		[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"memcached","image":"registry.example.com/wrong:1"}]}}}}`))
	g.Expect(c.Client.Patch(t.Context(), deployment, byHand)).To(gomega.Succeed())
	g.Eventually(func() string {
		g.Expect(c.Client.Get(t.Context(), key, deployment)).To(gomega.Succeed())
		return deployment.Spec.Template.Spec.Containers[0].Image
	}).Should(gomega.Equal(images.Memcached))
	g.Eventually(func() bool { return isReady(t, "story", 5) }).Should(gomega.BeTrue())
}

func isReady(t *testing.T, name string, size int32) bool {
	t.Helper()
	mc := memcached(t, name)
	for _, condition := range mc.Status.Conditions {
		if condition.Type == cachev1.ConditionReady {
			return condition.Status == "True" && mc.Status.ReadyReplicas == size &&
				mc.Status.ObservedGeneration == mc.Generation
		}
	}
	return false
}

func anotherOperatorLosesNothing(t *testing.T) {
	storeKeys(t, "story", keys)
	before := nodes(t, namespace, "story")
	operator, err := c.PushOperator(t.Context(), "0.2.0-e2e")
	if err != nil {
		t.Fatal(err)
	}
	if operator == images.Operator {
		t.Fatalf("both versions of the operator are %s", operator)
	}

	healthy(t, commit(t, "Upgrade the operator", func(dir string) error {
		file, err := values.Load(filepath.Join(dir, values.Path))
		if err != nil {
			return err
		}
		now, err := file.Settings()
		if err != nil {
			return err
		}
		now.OperatorImage = operator
		_, err = file.Save(now)
		return err
	}))

	manager := &appsv1.Deployment{}
	name := client.ObjectKey{Namespace: "memcached-operator-system", Name: "memcached-operator-controller-manager"}
	if err := c.Client.Get(t.Context(), name, manager); err != nil {
		t.Fatal(err)
	}
	if got := manager.Spec.Template.Spec.Containers[0].Image; got != operator || manager.Status.ReadyReplicas != 1 {
		t.Errorf("the manager runs %s with %d ready, want %s", got, manager.Status.ReadyReplicas, operator)
	}
	// The new operator acts, so it has seen the cache and left it as it was.
	healthy(t, commitCache(t, "second", "{size: 1}"))
	if diff := cmp.Diff(before, nodes(t, namespace, "story")); diff != "" {
		t.Errorf("Pods (-before +after):\n%s", diff)
	}
	if found := readKeys(t, "story", keys).Found; found != keys {
		t.Errorf("%d of %d keys are left", found, keys)
	}
}

func aBadCommitBreaksNothing(t *testing.T) {
	before := nodes(t, namespace, "story")
	commitCache(t, "story", "{size: -1}")
	applicationSays(t, chain.SamplesApplication, "spec.size")
	applicationSays(t, chain.SamplesApplication, "should be greater than or equal to 0")
	if diff := cmp.Diff(before, nodes(t, namespace, "story")); diff != "" {
		t.Errorf("Pods (-before +after):\n%s", diff)
	}
	if found := readKeys(t, "story", keys).Found; found != keys {
		t.Errorf("%d of %d keys are left", found, keys)
	}
	healthy(t, commitCache(t, "story", "{size: 4}"))
	assertNodes(t, 4)
}

func whatIsRemovedIsGone(t *testing.T) {
	healthy(t, removeCache(t, "second"))
	healthy(t, removeCache(t, "story"))
	g := newGomega(t)
	key := client.ObjectKey{Namespace: namespace, Name: "story"}
	for _, object := range []client.Object{&cachev1.Memcached{}, &appsv1.Deployment{}, &corev1.Service{}} {
		g.Eventually(func() bool { return apierrors.IsNotFound(c.Client.Get(t.Context(), key, object)) }).
			Should(gomega.BeTrue(), "%T is gone", object)
	}
	g.Eventually(func() int { return len(nodes(t, namespace, "story")) }).Should(gomega.BeZero())
}
