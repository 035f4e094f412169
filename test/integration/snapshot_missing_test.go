package integration

import (
	"os"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestWithoutTheRightsForSnapshotsCachesAreServed: an operator that is upgraded without its CRDs, or without its role,
// continues to serve caches.
func TestWithoutTheRightsForSnapshotsCachesAreServed(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, operatorKubeconfig)
	role := &rbacv1.ClusterRole{}
	w.Expect(cluster.Get(w.ctx, client.ObjectKey{Name: "memcached-operator-manager-role"}, role)).To(gomega.Succeed())
	own := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "without-snapshots"}}
	for _, rule := range role.Rules {
		var resources []string
		for _, resource := range rule.Resources {
			if resource != "jobs" && !strings.HasPrefix(resource, "memcachedsnapshots") {
				resources = append(resources, resource)
			}
		}
		if rule.Resources = resources; len(resources) > 0 {
			own.Rules = append(own.Rules, rule)
		}
	}
	w.Expect(cluster.Create(w.ctx, own)).To(gomega.Succeed())
	binding := get(w, "memcached-operator", &rbacv1.RoleBinding{})
	w.Expect(cluster.Delete(w.ctx, binding)).To(gomega.Succeed())
	w.Expect(cluster.Create(w.ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "memcached-operator"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: own.Name}, Subjects: binding.Subjects,
	})).To(gomega.Succeed())
	w.start()
	w.memcached("cache", 1)
	w.ready("cache")
	snapshot := w.snapshot("nightly")
	w.quiet()
	w.Expect(get(w, "nightly", &cachev1.MemcachedSnapshot{}).ResourceVersion).To(gomega.Equal(snapshot.ResourceVersion))
	log, err := os.ReadFile(w.log)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	if text := string(log); strings.Count(text, "No snapshots are written or restored: install the CRD") != 2 || strings.Contains(text, "Failed to watch") {
		t.Errorf("the log does not have the fix exactly once:\n%s", text)
	}
}

// TestASnapshotIsTheOnlyOneOfItsCache: only one snapshot of a cache runs at a time. It fails if the servers of the
// cache change during the snapshot.
func TestASnapshotIsTheOnlyOneOfItsCache(t *testing.T) {
	w := newSlotWorld(t)
	w.allow("deletion") // This rule does not know MemcachedSnapshots.
	w.memcachedWithSlots("cache", 1, cachev1.SlotsDNS)
	w.snapshot("nightly")
	w.snapshotReason("nightly", cachev1.ReasonSaving, "")
	w.snapshot("weekly")
	w.snapshotReason("weekly", cachev1.ReasonMemcachedNotReady, `Job "nightly" saves or restores it now`)
	w.patch(&batchv1.Job{}, "nightly", `{"metadata":{"labels":{"cache.example.com/snapshot":null}}}`)
	w.snapshotReason("nightly", cachev1.ReasonSaving, "")
	w.patch(&batchv1.Job{}, "nightly", `{"metadata":{"labels":{"cache.example.com/snapshot":"cache"}}}`)
	w.endPods("nightly", corev1.PodSucceeded, `{"servers":1,"items":3}`)
	w.snapshotReason("nightly", cachev1.ReasonSaved, "3 items")
	w.snapshotReason("weekly", cachev1.ReasonSaving, "")
	w.patch(&cachev1.Memcached{}, "cache", `{"spec":{"size":2}}`)
	w.snapshotReason("weekly", cachev1.ReasonSaveFailed, `The servers of the Memcached "cache" changed while it was saved`)
	w.awaitNoJob("weekly")

	w.served("cache")
	w.snapshot("first")
	w.snapshotReason("first", cachev1.ReasonSaving, "")
	w.snapshot("second")
	w.snapshotReason("second", cachev1.ReasonMemcachedNotReady, `Job "first" saves or restores it now`)
	w.Expect(cluster.Delete(w.ctx, get(w.world, "first", &batchv1.Job{}), client.PropagationPolicy(metav1.DeletePropagationBackground))).To(gomega.Succeed())
	w.snapshotReason("second", cachev1.ReasonSaving, "")
}
