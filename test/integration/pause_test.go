package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestSuspendedPausesARolloutThatContinuesAfterwards(t *testing.T) {
	w, old := inTheMiddleOfARollout(t)
	w.patchSpec(`{"suspend":true}`)
	w.says("cache", "1 of 3 Pods replaced; the rollout is paused: set spec.suspend to false to resume it")
	held := left(w, old)
	before := w.quiet()
	w.run("cache")
	w.Expect(count(w.quiet(), "patch deployments")).To(gomega.Equal(count(before, "patch deployments")))
	w.Expect(left(w, old)).To(gomega.Equal(held), "the old Pods that were left continue to serve")

	w.patchSpec(`{"suspend":false}`)
	w.ready("cache")
	w.Expect(left(w, old)).To(gomega.BeEmpty())
	deployment := w.deployment("cache")
	w.Expect(deployment.Spec.Paused).To(gomega.BeFalse())
	w.Expect(deployment.ManagedFields).NotTo(gomega.ContainElement(gomega.HaveField("Manager", "memcached-operator-pause")))
}

func TestSuspendedPausesARolloutDespiteAnInvalidSpec(t *testing.T) {
	w, old := inTheMiddleOfARollout(t)
	w.patchSpec(`{"suspend":true,"maxItemSize":"1Gi"}`)
	mc := w.reason("cache", cachev1.ReasonInvalidSpec)
	w.Expect(meta.IsStatusConditionTrue(mc.Status.Conditions, cachev1.ConditionSuspended)).To(gomega.BeTrue())
	w.Expect(w.deployment("cache").Spec.Paused).To(gomega.BeTrue())
	w.Expect(left(w, old)).To(gomega.HaveLen(2))
}

func TestAFailedPauseWithAnInvalidSpecIsRetried(t *testing.T) {
	w, old := inTheMiddleOfARollout(t)
	allow := w.refuse(admissionv1.Update, "apps", "deployments", "!has(object.spec.paused) || !object.spec.paused", func() error {
		pause := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"paused":true}}`))
		return cluster.Patch(w.ctx, w.deployment("cache"), pause, client.DryRunAll)
	})
	w.patchSpec(`{"suspend":true,"maxItemSize":"1Gi"}`)
	w.reason("cache", cachev1.ReasonInvalidSpec)
	w.Eventually(func() []string { return audit.requestsOf(t, w.namespace) }).Should(gomega.ContainElement("patch deployments (failed)"))
	w.Expect(w.deployment("cache").Spec.Paused).To(gomega.BeFalse())
	allow()
	w.Eventually(func() bool { return w.deployment("cache").Spec.Paused }).Should(gomega.BeTrue())
	w.Expect(left(w, old)).To(gomega.HaveLen(2))
}

// inTheMiddleOfARollout creates a cache of three Pods, and replaces one of them in a rollout. It returns the names of
// the three original Pods.
func inTheMiddleOfARollout(t *testing.T) (w *world, old []string) {
	t.Helper()
	w = newWorld(t)
	w.memcached("cache", 3)
	w.ready("cache")
	old = podNames(w.pods("cache"))

	w.patchSpec(`{"memory":"128Mi"}`)
	w.Eventually(func() bool { // Make one new Pod ready; then an old one is deleted.
		fresh := slices.DeleteFunc(w.pods("cache"), func(pod corev1.Pod) bool { return slices.Contains(old, pod.Name) })
		if len(fresh) == 1 {
			makeReady(w, &fresh[0])
		}
		return len(left(w, old)) == 2
	}).Should(gomega.BeTrue())
	return w, old
}

// left returns which of the Pods still exist.
func left(w *world, pods []string) []string {
	return slices.DeleteFunc(podNames(w.pods("cache")), func(name string) bool { return !slices.Contains(pods, name) })
}

// says waits until the message of the condition Ready contains the words.
func (w *world) says(name, words string) {
	w.t.Helper()
	eventually(w, name, &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool {
		ready := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady)
		return ready != nil && strings.Contains(ready.Message, words)
	})
}
