//go:build e2e

package e2e

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deployed "github.com/example-inc/memcached-operator/internal/testing/site"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

// cache is a Memcached in its own namespace, changed directly and not through Git.
type cache struct {
	*gomega.WithT
	t   *testing.T
	key client.ObjectKey
}

func newCache(t *testing.T, name string, spec cachev1.MemcachedSpec) *cache {
	t.Helper()
	it := &cache{t: t, WithT: newGomega(t), key: client.ObjectKey{Namespace: name, Name: name}}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	it.Expect(c.Client.Create(t.Context(), namespace)).To(gomega.Succeed())
	spec.Resources = little()
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: name}, Spec: spec}
	it.Expect(c.Client.Create(t.Context(), mc)).To(gomega.Succeed())
	t.Cleanup(func() {
		if t.Failed() {
			it.logsForReaders()
		} else { // Otherwise the Pods of other tests could not use their part of the Node.
			it.Expect(c.Client.Delete(context.WithoutCancel(t.Context()), namespace)).To(gomega.Succeed())
		}
	})
	return it
}

// little returns resource requests that are so small that the Pods of all tests that run at the same time fit on one
// Node.
func little() *cachev1.MemcachedResources {
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}
	return &cachev1.MemcachedResources{Resources: cachev1.Resources{Requests: requests}}
}

// logsForReaders logs what a person who looks into a failed test needs first.
func (it *cache) logsForReaders() {
	for _, question := range [][]string{
		{"get", "memcached", it.key.Name, "-o", "jsonpath={.status}"},
		{"get", "pod", "-o", "wide"},
		{"get", "event"},
		{"logs", "--selector", "memcached_cr=" + it.key.Name, "--container", "agent", "--prefix", "--tail", "40"},
	} {
		out, err := c.kubectl(context.WithoutCancel(it.t.Context()), it.key.Namespace, question...).CombinedOutput()
		it.t.Logf("kubectl %s (%v):\n%s", strings.Join(question, " "), err, out)
	}
}

// in returns the same cache for a subtest.
func (it *cache) in(t *testing.T) *cache {
	t.Helper()
	return &cache{t: t, WithT: newGomega(t), key: it.key}
}

func (it *cache) get() *cachev1.Memcached {
	it.t.Helper()
	mc := &cachev1.Memcached{}
	it.Expect(c.Client.Get(it.t.Context(), it.key, mc)).To(gomega.Succeed())
	return mc
}

func (it *cache) patch(spec string) {
	it.t.Helper()
	raw := client.RawPatch(types.MergePatchType, []byte(`{"spec":`+spec+`}`))
	it.Expect(c.Client.Patch(it.t.Context(), it.get(), raw)).To(gomega.Succeed())
}

// says waits until the Ready condition for the current spec has this reason, and its message contains these words.
func (it *cache) says(reason, words string) {
	it.t.Helper()
	var last *metav1.Condition
	it.Eventually(func() bool {
		mc := it.get()
		last = meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady)
		return last != nil && mc.Status.ObservedGeneration == mc.Generation &&
			last.Reason == reason && strings.Contains(last.Message, words)
	}).Should(gomega.BeTrue(), "last seen: %v", last)
}

func (it *cache) pods() map[string]types.UID { return c.pods(it.t, it.key.Namespace, it.key.Name) }

// TestARolloutThatIsStuckRecoversWhileTheOldPodsServe runs a client that refreshes its list of Pods each second, as
// long-lived clients should. None of its requests may fail.
func TestARolloutThatIsStuckRecoversWhileTheOldPodsServe(t *testing.T) {
	c.shared(t)
	it := newCache(t, "rollout", cachev1.MemcachedSpec{Size: new(int32(3))})
	it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	waitByKubectl(it)
	before := it.pods()

	watching := make(chan clientpod.Keys, 1)
	go func() {
		watched, err := deployed.RunClient(t.Context(), c.Pipeline, it.key.Namespace, c.images.Client,
			"watch", "--endpoint="+it.get().Status.Endpoint, "--keys=50", "--for=60s")
		if err != nil {
			t.Error(err)
		}
		watching <- watched
	}()

	missing := c.Cluster.Image("memcached", "missing")
	it.patch(`{"image":"` + missing + `"}`)
	it.says(cachev1.ReasonPodsNotReady, `image "`+missing+`" of container "memcached" cannot be pulled`)
	for name, uid := range before {
		it.Expect(it.pods()).To(gomega.HaveKeyWithValue(name, uid), "the old Pods stay")
	}
	// The first rollout is half-way. The new template also differs from the template before it, so a second rollout begins
	// before the first one is complete.
	it.patch(`{"image":null,"memory":"96Mi"}`)
	it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	after := it.pods()
	for name := range before {
		it.Expect(after).NotTo(gomega.HaveKey(name), "each Pod is replaced")
	}
	it.patch(`{"size":1}`)
	it.says(cachev1.ReasonAllPodsReady, "1 of 1 Pods ready")

	watched := <-watching
	t.Logf("%d requests, %d of them failed", watched.Requests, watched.Failed)
	if watched.Requests == 0 || watched.Failed > 0 {
		t.Errorf("%d of %d requests failed: %v", watched.Failed, watched.Requests, watched.Failures)
	}
}

// waitByKubectl checks that kubectl wait understands the status.
func waitByKubectl(it *cache) {
	it.t.Helper()
	wait := exec.CommandContext(it.t.Context(), c.Cluster.Kubectl, "--kubeconfig", c.Cluster.Kubeconfig,
		"--namespace", it.key.Namespace, "wait", "memcached/"+it.key.Name, "--for=condition=Ready", "--timeout=10s")
	out, err := wait.CombinedOutput()
	it.Expect(err).NotTo(gomega.HaveOccurred(), "%s", out)
}

func TestTheStatusSaysWhyAPodCrashes(t *testing.T) {
	c.shared(t)
	it := newCache(t, "crash", cachev1.MemcachedSpec{Size: new(int32(1)), ExtraArgs: []string{"--no-such-option"}})
	it.says(cachev1.ReasonPodsNotReady, `container "memcached" exited with code`)
	it.says(cachev1.ReasonPodsNotReady, `unrecognized option '--no-such-option'`)
	it.patch(`{"extraArgs":null}`)
	it.says(cachev1.ReasonAllPodsReady, "1 of 1 Pods ready")
}
