//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deployed "github.com/example-inc/memcached-operator/internal/testing/site"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// savedKeys is the number of keys in the cache that is saved.
const savedKeys = 3000

// TestACacheIsSavedAndRestored saves a cache, verifies the snapshot, and restores it into another cache with more
// slots. The volume is a folder of the Node.
func TestACacheIsSavedAndRestored(t *testing.T) {
	c.shared(t)
	it := newCache(t, "saved", cachev1.MemcachedSpec{
		Image: newMemcached(t), Size: new(int32(2)), TerminationDelaySeconds: new(int32(1)), Slots: &cachev1.Slots{},
	})
	it.Expect(deployed.PushSnapshot(t.Context(), c.Pipeline)).To(gomega.Succeed())
	folder := it.claims("backups")
	it.says(cachev1.ReasonAllPodsReady, "2 of 2 Pods ready")
	for _, pod := range it.all() {
		it.stores(&pod, savedKeys)
	}
	wanted := &cachev1.MemcachedSnapshot{
		ObjectMeta: metav1.ObjectMeta{Namespace: it.key.Namespace, Name: "nightly"},
		Spec: cachev1.MemcachedSnapshotSpec{
			MemcachedRef: cachev1.MemcachedReference{Name: it.key.Name},
			To:           cachev1.SnapshotTarget{PersistentVolumeClaim: &cachev1.SnapshotVolume{ClaimName: "backups"}},
		},
	}
	it.Expect(c.Client.Create(t.Context(), wanted)).To(gomega.Succeed())
	it.Eventually(func() string {
		it.Expect(c.Client.Get(t.Context(), client.ObjectKeyFromObject(wanted), wanted)).To(gomega.Succeed())
		ready := meta.FindStatusCondition(wanted.Status.Conditions, cachev1.ConditionReady)
		if ready == nil {
			return ""
		}
		return ready.Reason + ": " + ready.Message
	}).WithTimeout(3 * time.Minute).Should(gomega.HavePrefix(cachev1.ReasonSaved))
	if wanted.Status.Items != 2*savedKeys || wanted.Status.Servers != 2 || wanted.Status.StoredBytes == 0 {
		t.Errorf("got %+v", wanted.Status)
	}
	verify := exec.CommandContext(t.Context(), "go", "run", ".", "verify", "--from="+folder, "--name="+wanted.Status.SnapshotName, "-o=json")
	verify.Dir, verify.Stderr = c.Root+"/operator/cmd/snapshot", os.Stderr
	out, err := verify.Output()
	it.Expect(err).NotTo(gomega.HaveOccurred())
	var whole struct{ Items, Bytes int64 }
	it.Expect(json.Unmarshal(out, &whole)).To(gomega.Succeed())
	if whole.Items != wanted.Status.Items || whole.Bytes != wanted.Status.Bytes {
		t.Errorf("the snapshot has the keys and bytes the keys and bytes %+v, and the status says %+v", whole, wanted.Status)
	}
	it.isRestored(cachev1.BootstrapSnapshot{Name: wanted.Status.SnapshotName, SnapshotTarget: wanted.Spec.To})
}

// isRestored fills another cache of the namespace with a snapshot. Both Pods of the saved cache had the same keys, so
// each key is restored once, to the slot in which clients look for it.
func (it *cache) isRestored(from cachev1.BootstrapSnapshot) {
	it.t.Helper()
	other := &cache{t: it.t, WithT: it.WithT, key: client.ObjectKey{Namespace: it.key.Namespace, Name: "restored"}}
	it.Expect(c.Client.Create(it.t.Context(), &cachev1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Namespace: other.key.Namespace, Name: other.key.Name},
		Spec: cachev1.MemcachedSpec{
			Image: newMemcached(it.t), Size: new(int32(3)), TerminationDelaySeconds: new(int32(1)), Resources: little(),
			Slots:     &cachev1.Slots{ClientHash: cachev1.HashRendezvous},
			Bootstrap: &cachev1.Bootstrap{From: cachev1.BootstrapSource{Snapshot: &from}},
		},
	})).To(gomega.Succeed())
	other.isBootstrapped(cachev1.ReasonBootstrapRestored)
	status := other.get().Status
	restored := meta.FindStatusCondition(status.Conditions, cachev1.ConditionBootstrapped)
	it.Expect(restored.Message).To(gomega.ContainSubstring("%[1]d items were added; %[1]d keys were in the cache", savedKeys))
	it.Expect(status.RestoredSnapshot).To(gomega.Equal(from.Name))
	other.holds(savedKeys)
	for pod := range other.pods() {
		it.Expect(other.metricsOf(pod).value("memcached_current_items")).To(gomega.BeNumerically("~", savedKeys/3, savedKeys/10))
	}
}

// claims creates a PersistentVolume for a folder that all users may write, and a claim for this volume. It returns the
// folder.
func (it *cache) claims(name string) (folder string) {
	it.t.Helper()
	folder, err := os.MkdirTemp(filepath.Dir(c.Cluster.Kubeconfig), "snapshots-") // Nodes may not see other folders.
	it.Expect(err).NotTo(gomega.HaveOccurred())
	it.t.Cleanup(func() { _ = os.RemoveAll(folder) })
	it.Expect(os.Chmod(folder, 0o777)).To(gomega.Succeed())
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	it.Expect(c.Client.Create(it.t.Context(), &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: it.key.Namespace + "-" + name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: modes, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: folder}},
		},
	})).To(gomega.Succeed())
	it.Expect(c.Client.Create(it.t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: it.key.Namespace, Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, StorageClassName: new(""), VolumeName: it.key.Namespace + "-" + name,
			Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	})).To(gomega.Succeed())
	return folder
}
