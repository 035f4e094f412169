//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deployed "github.com/example-inc/memcached-operator/internal/testing/site"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

// triggers are what applies the pending update, each for a cache of its own.
var triggers = map[string]string{
	"annotation": `{"metadata":{"annotations":{"` + cachev1.AnnotationUpdateRequested + `":"now"}}}`,
	"spec":       `{"spec":{"threads":2}}`,
	"policy":     `{"spec":{"updatePolicy":"Automatic"}}`,
}

// TestAnUpgradeWithOtherDefaultsRollsNothingUntilItIsAskedFor brings an operator with another default image, other
// architectures and another Pod template.
func TestAnUpgradeWithOtherDefaultsRollsNothingUntilItIsAskedFor(t *testing.T) {
	c.exclusive(t)
	caches, before := map[string]*cache{}, map[string]map[string]types.UID{}
	for trigger := range triggers {
		it := newCache(t, "defaults-"+trigger, cachev1.MemcachedSpec{Size: new(int32(2))})
		it.says(cachev1.ReasonAllPodsReady, "2 of 2 Pods ready")
		it.client("set")
		caches[trigger], before[trigger] = it, it.pods()
	}

	image := otherMemcached(t)
	operator := nextOperator(t)
	architecture := oci.Host().Architecture
	t.Cleanup(func() { // The older operator would not know the template of these caches.
		ctx := context.WithoutCancel(t.Context())
		for _, it := range caches {
			_ = c.Client.Delete(ctx, &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: it.key.Namespace, Name: it.key.Name}})
		}
		if err := c.deploy(ctx, architecture, c.images.Operator, c.images.Memcached); err != nil {
			t.Error(err)
		}
	})
	if err := c.deploy(t.Context(), "multiarch", operator, image); err != nil {
		t.Fatal(err)
	}

	waits := fmt.Sprintf("image %s -> %s; architectures %s -> %s; template revision 1 -> 2. ",
		c.images.Memcached, image, architecture, strings.Join(oci.Architectures(), ", "))
	for trigger, it := range caches {
		it.Eventually(it.pending).Should(gomega.HavePrefix(waits), "the new operator has looked at the cache")
		it.says(cachev1.ReasonAllPodsReady, "2 of 2 Pods ready")
		if diff := cmp.Diff(before[trigger], it.pods()); diff != "" {
			t.Fatalf("Pods (-before the upgrade +after):\n%s", diff)
		}
		if found := it.client("get"); found != keys {
			t.Errorf("%d of %d keys are left", found, keys)
		}
	}
	for trigger, patch := range triggers {
		t.Run(trigger, func(t *testing.T) { caches[trigger].in(t).rollsOnceBy(patch, before[trigger]) })
	}
}

// rollsOnceBy applies the pending update.
func (it *cache) rollsOnceBy(patch string, before map[string]types.UID) {
	it.t.Helper()
	it.Expect(c.Client.Patch(it.t.Context(), it.get(), client.RawPatch(types.MergePatchType, []byte(patch)))).To(gomega.Succeed())
	it.Eventually(it.pending).Should(gomega.BeEmpty())
	it.says(cachev1.ReasonAllPodsReady, "2 of 2 Pods ready")
	for name := range it.pods() {
		it.Expect(before).NotTo(gomega.HaveKey(name), "each Pod is replaced")
	}
	if rollouts := it.rollouts(); rollouts != 2 {
		it.t.Errorf("the Pods were made %d times, want twice: at first, and when it was asked for", rollouts)
	}
}

// otherMemcached is memcached under another reference.
func otherMemcached(t *testing.T) string {
	t.Helper()
	image, version, err := oci.Memcached(t.Context(), "")
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
	ref, err := deployed.PushProgram(t.Context(), c.Pipeline, "memcached-operator", version, program)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// pending is the message of UpdatePending, or nothing.
func (it *cache) pending() string {
	condition := meta.FindStatusCondition(it.get().Status.Conditions, cachev1.ConditionUpdatePending)
	if condition == nil || condition.Status != metav1.ConditionTrue {
		return ""
	}
	return condition.Message
}

// client stores or reads keys, and returns how many there were.
func (it *cache) client(verb string) int {
	it.t.Helper()
	got, err := deployed.RunClient(it.t.Context(), c.Pipeline, it.key.Namespace, c.images.Client,
		append(clientpod.Reach(it.get()), verb, fmt.Sprintf("--keys=%d", keys))...)
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
