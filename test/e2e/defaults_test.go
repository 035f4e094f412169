//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// TestAnUpgradeWithOtherDefaultsRollsNothingUntilItIsAskedFor brings an operator with another default image and another
// Pod template by a commit.
func TestAnUpgradeWithOtherDefaultsRollsNothingUntilItIsAskedFor(t *testing.T) {
	c.needs(t)
	it := newCache(t, "defaults", cachev1.MemcachedSpec{Size: new(int32(3))})
	it.says(cachev1.ReasonAllNodesReady, "3 of 3 nodes ready")
	before := it.nodes()
	it.client("set")

	image := otherMemcached(t)
	operator := nextOperator(t)
	upgrade := c.commit(t, "Upgrade the operator and its defaults", func(dir string) error {
		return setImages(dir, operator, image)
	})
	t.Cleanup(func() { // The older operator would not know the template of this cache.
		ctx := context.WithoutCancel(t.Context())
		_ = c.Client.Delete(ctx, &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: it.key.Namespace, Name: it.key.Name}})
		_, err := c.Git.Commit(ctx, "Go back to the operator as it was", func(dir string) error {
			return setImages(dir, c.images.Operator, c.images.Memcached)
		})
		if err != nil {
			t.Error(err)
		}
	})
	c.healthy(t, upgrade)

	waits := fmt.Sprintf("image %s -> %s; template revision 1 -> 2. ", c.images.Memcached, image)
	it.Eventually(it.pending).Should(gomega.HavePrefix(waits), "the new operator has looked at the cache")
	it.says(cachev1.ReasonAllNodesReady, "3 of 3 nodes ready")
	if diff := cmp.Diff(before, it.nodes()); diff != "" {
		t.Fatalf("Pods (-before the upgrade +after):\n%s", diff)
	}
	if found := it.client("get"); found != keys {
		t.Errorf("%d of %d keys are left", found, keys)
	}

	request := fmt.Sprintf(`{"metadata":{"annotations":{%q:"now"}}}`, cachev1.AnnotationUpdateRequested)
	it.Expect(c.Client.Patch(t.Context(), it.get(), client.RawPatch(types.MergePatchType, []byte(request)))).To(gomega.Succeed())
	it.Eventually(it.pending).Should(gomega.BeEmpty())
	it.says(cachev1.ReasonAllNodesReady, "3 of 3 nodes ready")
	for name := range it.nodes() {
		it.Expect(before).NotTo(gomega.HaveKey(name), "each node is replaced")
	}
	if rollouts := it.rollouts(); rollouts != 2 {
		t.Errorf("the nodes were made %d times, want twice: at first, and when it was asked for", rollouts)
	}
}

// otherMemcached is memcached under another reference.
func otherMemcached(t *testing.T) string {
	t.Helper()
	image, version, err := oci.Memcached(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ref, err := oci.Push(t.Context(), image, c.Cluster.Image("memcached-next", version))
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// nextOperator has one revision more of the Pod template.
func nextOperator(t *testing.T) string {
	t.Helper()
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(c.Root, "operator/internal/render/next_revision.go"): filepath.Join(c.Root, "test/integration/testdata/next_revision.go"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	const version = "0.3.0-e2e"
	program := oci.Operator(c.Root, version)
	program.Overlay = path
	ref, err := c.PushProgram(t.Context(), "memcached-operator", version, program)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func setImages(dir, operator, memcached string) error {
	return values.Edit(dir, func(s *values.Settings) { s.OperatorImage, s.MemcachedImage = operator, memcached })
}

// pending is the message of UpdatePending, or nothing.
func (it *cache) pending() string {
	condition := meta.FindStatusCondition(it.get().Status.Conditions, cachev1.ConditionUpdatePending)
	if condition == nil {
		return ""
	}
	return condition.Message
}

// client stores or reads keys, and returns how many there were.
func (it *cache) client(verb string) int {
	it.t.Helper()
	got, err := c.RunClient(it.t.Context(), it.key.Namespace, c.images.Client, verb,
		"--endpoint="+it.get().Status.Endpoint, fmt.Sprintf("--keys=%d", keys))
	it.Expect(err).NotTo(gomega.HaveOccurred())
	return got.Found
}

// rollouts is how often the Pods were made anew, the first time among them.
func (it *cache) rollouts() int {
	it.t.Helper()
	list := &appsv1.ReplicaSetList{}
	it.Expect(c.Client.List(it.t.Context(), list, client.InNamespace(it.key.Namespace))).To(gomega.Succeed())
	return len(list.Items)
}
