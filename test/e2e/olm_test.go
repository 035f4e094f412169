//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deployed "github.com/example-inc/memcached-operator/internal/testing/site"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
	"github.com/example-inc/memcached-operator/test/olm/standin"
)

const olmKeys = 50

// TestTheOperatorWorksAsABundleInstallsIt installs the operator from the image of its bundle, in each install mode,
// with nothing but the objects in the bundle. A stand-in does what OLM would do. So the test proves that the bundle
// contains all that the operator needs, but it does not test OLM.
func TestTheOperatorWorksAsABundleInstallsIt(t *testing.T) {
	t.Parallel()
	c.start(t)
	now, next := twoCommits(t)
	image := otherMemcached(t)
	first, second := pushBundle(t, now, "0.1.0", c.images.Memcached), pushBundle(t, next, "0.2.0-rc", image)
	c.alone(t)
	c.stopOperator(t) // Otherwise two operators would serve the same namespaces.
	modes := []struct {
		name    string
		targets []string // of the operator in the namespace olm-<mode>
		served  string   // the namespace of the cache
		ignored string   // a namespace that the operator does not serve
	}{
		{"OwnNamespace", []string{"olm-ownnamespace"}, "olm-ownnamespace", "olm-others"},
		{"SingleNamespace", []string{"olm-single"}, "olm-single", "olm-singlenamespace"},
		{"MultiNamespace", []string{"olm-a", "olm-b"}, "olm-b", "olm-multinamespace"},
		{"AllNamespaces", nil, "olm-any", ""},
	}
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			in := standin.Installation{Namespace: "olm-" + strings.ToLower(mode.name), Targets: mode.targets}
			for _, namespace := range append([]string{in.Namespace, mode.served, mode.ignored}, mode.targets...) {
				makeNamespace(t, namespace)
			}
			o := installed{t: t, WithT: newGomega(t), in: in}
			o.installs(nil, first)
			it := newCacheIn(t, mode.served, "cache", 2)
			it.says(cachev1.ReasonAllPodsReady, "2 of 2 Pods ready")
			o.holdsKeys(it)
			before := it.pods()

			o.installs(first, second)
			it.Eventually(it.pending).Should(gomega.ContainSubstring("-> "+image), "the new operator has other defaults")
			it.patch(`{"size":3}`)
			it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
			after := it.pods()
			for name, uid := range before {
				it.Expect(after).To(gomega.HaveKeyWithValue(name, uid), "the upgrade replaces no Pod")
			}
			it.patch(`{"size":2}`)
			it.says(cachev1.ReasonAllPodsReady, "2 of 2 Pods ready")
			o.leavesAlone(mode.ignored)
		})
	}
}

// twoCommits returns two checkouts: of the last commit, and of a commit on top of it that changes the operator's own
// Deployment, as a next release may.
func twoCommits(t *testing.T) (now, next string) {
	t.Helper()
	now, next = t.TempDir(), t.TempDir()
	git := func(arguments ...string) {
		t.Helper()
		arguments = append([]string{"-c", "user.name=test", "-c", "user.email=test@example.com"}, arguments...)
		if out, err := exec.CommandContext(t.Context(), "git", arguments...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", arguments, err, out)
		}
	}
	git("clone", "--quiet", c.Root, now)
	git("clone", "--quiet", now, next)
	manager := filepath.Join(next, "operator/config/manager/manager.yaml")
	content, err := os.ReadFile(manager)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(content, []byte("memory: 128Mi"), []byte("memory: 144Mi"), 1)
	if err := os.WriteFile(manager, changed, 0o644); err != nil {
		t.Fatal(err)
	}
	git("-C", next, "commit", "--quiet", "--all", "--message", "manager: request more memory")
	return now, next
}

// pushBundle builds the operator of a checkout and its bundle, with a default memcached image. It pushes both images,
// and reads the bundle back from its image.
func pushBundle(t *testing.T, checkout, version, memcached string) bundle.Files {
	t.Helper()
	from := *c.Pipeline
	from.Root = checkout
	operator, err := deployed.PushOperator(t.Context(), &from, version)
	if err != nil {
		t.Fatal(err)
	}
	files, err := bundle.Build(t.Context(), checkout, bundle.Options{
		Version: version, Images: bundle.Images{Operator: operator}, Channels: []string{"candidate"},
		Digest: func(_ context.Context, image string) (string, error) {
			switch { // The Nodes can't reach any other registry.
			case strings.Contains(image, "/memcached:"):
				return memcached, nil
			case strings.Contains(image, "/memcached-agent"):
				return c.images.Agent, nil
			}
			return image, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := files.Write(dir); err != nil {
		t.Fatal(err)
	}
	index, err := bundle.Image.Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := oci.Push(t.Context(), index, c.Cluster.Image("memcached-operator-bundle", "v"+version))
	if err != nil {
		t.Fatal(err)
	}
	pulled, err := standin.Pull(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return pulled
}

// makeNamespace creates a namespace that enforces the restricted Pod Security Standard, unless it exists.
func makeNamespace(t *testing.T, name string) {
	t.Helper()
	if name == "" {
		return
	}
	err := c.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}})
	if client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
}

// newCacheIn creates a Memcached in an existing namespace, and deletes it when the test ends.
func newCacheIn(t *testing.T, namespace, name string, size int32) *cache {
	t.Helper()
	it := &cache{t: t, WithT: newGomega(t), key: client.ObjectKey{Namespace: namespace, Name: name}}
	mc := &cachev1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: cachev1.MemcachedSpec{Size: &size},
	}
	it.Expect(c.Client.Create(t.Context(), mc)).To(gomega.Succeed())
	t.Cleanup(func() { _ = c.Client.Delete(context.WithoutCancel(t.Context()), mc) })
	return it
}

// installed is an operator that was installed from a bundle.
type installed struct {
	*gomega.WithT
	t  *testing.T
	in standin.Installation
}

// installs installs a version of the operator, or upgrades an older version to it, and waits until only this version
// runs.
func (o *installed) installs(older, newer bundle.Files) {
	o.t.Helper()
	o.Expect(o.in.Install(o.t.Context(), c.Client, older, newer)).To(gomega.Succeed())
	o.t.Cleanup(func() {
		if err := o.in.Uninstall(context.WithoutCancel(o.t.Context()), c.Client, newer); err != nil {
			o.t.Error(err)
		}
	})
	key := client.ObjectKey{Namespace: o.in.Namespace, Name: "memcached-operator-controller-manager"}
	var last appsv1.Deployment
	o.Eventually(func() bool {
		o.Expect(c.Client.Get(o.t.Context(), key, &last)).To(gomega.Succeed())
		s := last.Status
		return s.ObservedGeneration == last.Generation && s.Replicas == 1 && s.UpdatedReplicas == 1 && s.ReadyReplicas == 1
	}).Should(gomega.BeTrue(), "the operator runs; last seen: %+v", &last.Status)
}

// holdsKeys stores keys by one client and reads them by another.
func (o *installed) holdsKeys(it *cache) {
	o.t.Helper()
	for _, verb := range []string{"set", "get"} {
		got, err := deployed.RunClient(o.t.Context(), c.Pipeline, it.key.Namespace, c.images.Client,
			append(clientpod.Reach(it.get()), verb, fmt.Sprintf("--keys=%d", olmKeys))...)
		o.Expect(err).NotTo(gomega.HaveOccurred())
		if verb == "get" {
			got.Nodes = nil
			if diff := cmp.Diff(clientpod.Keys{Found: olmKeys}, got); diff != "" {
				o.t.Errorf("what the client finds (-want +got):\n%s", diff)
			}
		}
	}
}

// leavesAlone checks that the operator ignores a Memcached in a namespace that it does not serve.
func (o *installed) leavesAlone(namespace string) {
	o.t.Helper()
	if namespace == "" {
		return
	}
	it := newCacheIn(o.t, namespace, "ignored", 1)
	o.Consistently(func() map[string]types.UID { return it.pods() }, "3s").Should(gomega.BeEmpty())
	if conditions := it.get().Status.Conditions; len(conditions) > 0 {
		o.t.Errorf("a Memcached that is not served has the conditions %v", conditions)
	}
}

// stopOperator stops the operator that make deploy installed, until the test ends.
func (s *site) stopOperator(t *testing.T) {
	t.Helper()
	scale := func(ctx context.Context, replicas int) error {
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))
		manager := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorName}}
		return s.Client.Patch(ctx, manager, patch)
	}
	if err := scale(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := scale(context.WithoutCancel(t.Context()), 1); err != nil {
			t.Error(err)
		}
	})
	newGomega(t).Eventually(func() int32 { return s.manager(t).Status.Replicas }).Should(gomega.BeZero())
}

// otherMemcached pushes the image of memcached with another name, and returns its reference.
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

// pending returns the message of the condition UpdatePending, or an empty text if no update is pending.
func (it *cache) pending() string {
	condition := meta.FindStatusCondition(it.get().Status.Conditions, cachev1.ConditionUpdatePending)
	if condition == nil || condition.Status != metav1.ConditionTrue {
		return ""
	}
	return condition.Message
}
