package integration

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

const (
	imageOne = "registry.example.com/memcached:one"
	imageTwo = "registry.example.com/memcached:two"
	oneToTwo = "image " + imageOne + " -> " + imageTwo
)

func TestApplyFailedWhileDiscoveryFailsAndNothingChanges(t *testing.T) {
	w, at := newUpgradeWorld(t)
	release{}.start(w, at)
	w.memcached("cache", 2)
	w.ready("cache")
	before, spent := w.uids("cache"), len(w.quiet())

	release{clusterIs: noAnswer}.start(w, at)
	w.memcached("new", 2)
	mc := w.reason("new", cachev1.ReasonApplyFailed)
	w.Expect(meta.FindStatusCondition(mc.Status.Conditions, "Ready").Message).To(gomega.ContainSubstring(
		"find out whether this is OpenShift, which decides what user memcached runs as: ask the API server for its API groups"))
	w.patchSpec(`{"size":3}`)
	w.Expect(w.ready("cache").Status.Nodes).To(gomega.HaveLen(3), "the cache that is there is looked after")
	w.waits("cache", "")
	w.Expect(w.uids("cache")).To(gomega.ContainElements(before))
	w.patchSpec(`{"threads":2}`)
	w.ready("cache")
	w.Expect(*w.deployment("cache").Spec.Template.Spec.SecurityContext.RunAsUser).To(gomega.Equal(int64(11211)))
	before = w.uids("cache")

	at.looks(asItIs)
	w.ready("new")
	w.Expect(w.uids("cache")).To(gomega.Equal(before))
	writes := count(w.quiet()[spent:], "patch deployments")
	w.Expect(writes).To(gomega.Equal(3), "a new size, other threads and the new cache")
}

// TestOperatorsThatAlternateWriteNothingButTheStatus: OLM v0 starts operators in this way at each upgrade, first
// without the settings of the Subscription and then with them.
func TestOperatorsThatAlternateWriteNothingButTheStatus(t *testing.T) {
	w, at := newUpgradeWorld(t)
	one, two := release{image: imageOne, architectures: "amd64"}, release{image: imageTwo, architectures: "arm64"}
	one.start(w, at)
	w.memcached("cache", 2)
	w.ready("cache")
	uids, spent := w.uids("cache"), len(w.quiet())
	for range 2 {
		two.start(w, at)
		w.waits("cache", oneToTwo+"; architectures amd64 -> arm64")
		one.start(w, at)
		w.waits("cache", "")
	}
	want := slices.Repeat([]string{"patch memcacheds/status"}, 4)
	if diff := cmp.Diff(want, w.quiet()[spent:]); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	w.Expect(w.uids("cache")).To(gomega.Equal(uids))
}

func TestAnOrphanedDeploymentIsAdoptedWithItsPods(t *testing.T) {
	w, at := newUpgradeWorld(t)
	release{image: imageOne}.start(w, at)
	mc := w.memcached("cache", 2)
	w.ready("cache")
	uids := w.uids("cache")
	w.orphan(mc)
	w.Expect(w.deployment("cache").OwnerReferences).To(gomega.BeEmpty())

	release{image: imageTwo}.start(w, at)
	successor := w.memcached("cache", 2)
	w.ready("cache")
	for _, child := range managedObjects() {
		w.Expect(metav1.IsControlledBy(get(w, "cache", child), successor)).To(gomega.BeTrue(), "%T", child)
	}
	w.Eventually(w.events).Should(gomega.ContainElement("Normal Adopted Deployment"))
	w.waits("cache", oneToTwo)
	w.Expect(w.uids("cache")).To(gomega.Equal(uids))
}

// orphan deletes a Memcached, and keeps its managed objects.
func (w *world) orphan(mc *cachev1.Memcached) {
	w.t.Helper()
	w.Expect(cluster.Delete(w.ctx, mc, client.PropagationPolicy(metav1.DeletePropagationOrphan))).To(gomega.Succeed())
	w.Eventually(func() bool { // It is deleted once it owns no objects.
		return apierrors.IsNotFound(cluster.Get(w.ctx, client.ObjectKeyFromObject(mc), &cachev1.Memcached{}))
	}).Should(gomega.BeTrue())
}

func TestAnUpdateReplacesADefaultImageThatCanNotBePulled(t *testing.T) {
	w, at := newUpgradeWorld(t)
	release{image: imageOne}.start(w, at)
	w.memcached("cache", 2)
	w.setPods(2, func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "memcached", Image: imageOne,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}},
		}}
	})
	w.reason("cache", cachev1.ReasonPodsNotReady)

	release{image: imageTwo}.start(w, at)
	w.waits("cache", oneToTwo)
	w.Eventually(func() string {
		mc := get(w, "cache", &cachev1.Memcached{})
		return meta.FindStatusCondition(mc.Status.Conditions, "Ready").Message
	}).Should(gomega.And(
		gomega.ContainSubstring(`image "`+imageOne+`" of container "memcached" cannot be pulled`),
		gomega.HaveSuffix("an update to the operator's defaults is pending: see the condition UpdatePending")))

	w.request("cache", time.Now().Format(time.RFC3339))
	eventually(w, "cache", &appsv1.Deployment{}, func(d *appsv1.Deployment) bool {
		return d.Spec.Template.Spec.Containers[0].Image == imageTwo
	})
	w.waits("cache", "")
}
