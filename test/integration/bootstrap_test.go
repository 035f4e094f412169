package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/kubelet"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// filled creates a cache with two slots that is filled from two other servers. Their keys are not copied yet.
func (w *slotWorld) filled() {
	w.t.Helper()
	w.copies.Store(false)
	w.memcachedWithSlots("cache", 2, cachev1.SlotsDNS, func(spec *cachev1.MemcachedSpec) {
		spec.NetworkPolicy = &cachev1.NetworkPolicy{From: []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}}
		spec.Slots.ClientHash = cachev1.HashRendezvous
		spec.Bootstrap = &cachev1.Bootstrap{From: cachev1.BootstrapSource{Servers: []string{"old-0:11211", "old-1:11211"}}}
	})
	w.bootstrapped(cachev1.ReasonBootstrapCopying)
}

// bootstrapped waits until the condition Bootstrapped has this reason.
func (w *slotWorld) bootstrapped(reason string) *cachev1.Memcached {
	w.t.Helper()
	return eventually(w.world, "cache", &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool {
		condition := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionBootstrapped)
		return condition != nil && condition.Reason == reason && condition.ObservedGeneration == mc.Generation
	})
}

// copying returns the Pods that copy the keys of other servers.
func (w *slotWorld) copying() []corev1.Pod {
	w.t.Helper()
	pods := &corev1.PodList{}
	w.Expect(cluster.List(w.ctx, pods, client.InNamespace(w.namespace))).To(gomega.Succeed())
	return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !kubelet.IsBootstrap(&pod) })
}

// phases returns the phase of each Pod that copies keys, as the operator's instruction in its annotation says.
func (w *slotWorld) phases() (phases []string) {
	w.t.Helper()
	for _, pod := range w.copying() {
		phases = append(phases, pod.Annotations["cache.example.com/bootstrap"])
	}
	return phases
}

func TestACacheIsFilledFromOtherServers(t *testing.T) {
	w := newSlotWorld(t)
	w.filled()
	deployment := get(w.world, "cache-bootstrap", &appsv1.Deployment{})
	address := func(slot string) string { return slot + ".cache-slots." + w.namespace + ".svc:11211" }
	want := []string{
		"bootstrap", "--phase-file=/run/bootstrap/phase", "--state-file=/run/state/copied",
		"--from=old-0:11211", "--from=old-1:11211", "--from-hash=Rendezvous",
		"--to=" + address("cache-0"), "--to=" + address("cache-1"), "--to-hash=Rendezvous", "--bytes-per-second=16777216",
	}
	if diff := cmp.Diff(want, deployment.Spec.Template.Spec.Containers[0].Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	w.copies.Store(true)
	w.bootstrapped(cachev1.ReasonBootstrapFollowing)
	w.Expect(w.phases()).To(gomega.Equal([]string{"follow"}))
	w.patchSpec(`{"bootstrap":{"mode":"CutOver"}}`)
	w.bootstrapped(cachev1.ReasonBootstrapCutOver)
	w.Eventually(w.phases).Should(gomega.Equal([]string{"moved"}))
	before := len(w.quiet())
	w.stop()
	w.start()
	w.reason("cache", cachev1.ReasonAllPodsReady)
	if diff := cmp.Diff([]string{}, w.quiet()[before:]); diff != "" {
		t.Errorf("requests at rest, after a restart:\n%s", diff)
	}
	w.patchSpec(`{"bootstrap":null}`)
	w.Eventually(func() bool {
		err := cluster.Get(w.ctx, client.ObjectKeyFromObject(deployment), deployment)
		return apierrors.IsNotFound(err) && len(w.copying()) == 0
	}).Should(gomega.BeTrue())
	mc := w.reason("cache", cachev1.ReasonAllPodsReady)
	if left := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionBootstrapped); left != nil {
		t.Errorf("the condition stays: %+v", left)
	}
}

// TestNoOtherPodCopiesWhileClientsMayUseBoth: while clients may use both servers, another Pod must not copy keys,
// because it does not know which keys clients have changed, and would overwrite them.
func TestNoOtherPodCopiesWhileClientsMayUseBoth(t *testing.T) {
	w := newSlotWorld(t)
	w.allow("no rollout that no one requested", "fields") // These rules do not know of changes that wait.
	w.filled()
	w.copies.Store(true)
	w.patchSpec(`{"bootstrap":{"mode":"CutOver"}}`)
	w.bootstrapped(cachev1.ReasonBootstrapCutOver)
	template := get(w.world, "cache-bootstrap", &appsv1.Deployment{}).Spec.Template
	hash := get(w.world, "cache", &appsv1.Deployment{}).Spec.Template

	w.patchSpec(`{"size":3,"threads":2,"placement":{"nodeSelector":{"pool":"caches"}}}`)
	mc := w.reason("cache", cachev1.ReasonKeysMoving)
	if len(mc.Status.Slots) != 2 {
		t.Errorf("a slot was added: %+v", mc.Status.Slots)
	}
	if diff := cmp.Diff(template, get(w.world, "cache-bootstrap", &appsv1.Deployment{}).Spec.Template); diff != "" {
		t.Errorf("another Pod is to copy:\n%s", diff)
	}
	if diff := cmp.Diff(hash, get(w.world, "cache", &appsv1.Deployment{}).Spec.Template); diff != "" {
		t.Errorf("Pods of the cache are replaced:\n%s", diff)
	}

	w.copies.Store(false)
	lost := w.copying()[0]
	w.Expect(cluster.Delete(w.ctx, &lost, client.GracePeriodSeconds(0))).To(gomega.Succeed())
	w.Eventually(w.phases).Should(gomega.Equal([]string{"moved"}))
	w.bootstrapped(cachev1.ReasonBootstrapCopying)
	w.copies.Store(true)
	w.bootstrapped(cachev1.ReasonBootstrapCutOver)

	w.copies.Store(false)
	former := w.copying()[0]
	w.Expect(cluster.Delete(w.ctx, get(w.world, "cache-bootstrap", &appsv1.Deployment{}))).To(gomega.Succeed())
	w.bootstrapped(cachev1.ReasonBootstrapCopying)
	w.Eventually(w.copying).ShouldNot(gomega.ContainElement(gomega.HaveField("Name", former.Name)))
	w.Eventually(w.phases).Should(gomega.Equal([]string{"moved"}), "the Deployment was deleted, and with it the record")
	w.copies.Store(true)
	w.bootstrapped(cachev1.ReasonBootstrapCutOver)

	w.patchSpec(`{"bootstrap":null}`)
	w.served("cache")
	w.Eventually(func() int32 { return *get(w.world, "cache", &appsv1.Deployment{}).Spec.Replicas }).Should(gomega.BeEquivalentTo(3))
}

func TestACutOverDoesNotGoBack(t *testing.T) {
	w := newSlotWorld(t)
	w.filled()
	w.patchSpec(`{"bootstrap":{"mode":"CutOver"}}`)
	mc := get(w.world, "cache", &cachev1.Memcached{})
	for patch, want := range map[string]string{
		`{"spec":{"bootstrap":{"mode":"Follow"}}}`:                    "mode cannot change from CutOver to Follow",
		`{"spec":{"bootstrap":{"from":{"servers":["other:11211"]}}}}`: "from cannot change while mode is CutOver",
	} {
		err := cluster.Patch(w.ctx, mc.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", patch, err, want)
		}
	}
}

func TestTheStatusSaysWhyNoKeysAreCopied(t *testing.T) {
	w := newSlotWorld(t)
	w.acts.Store("cache_bootstrap", act(func(pod *corev1.Pod, _ kubelet.Order) {
		pod.Status.ContainerStatuses[0].LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 3, Message: `{"reason":"DumpForbidden","error":"old-1:11211 runs with -X"}`,
		}}
	}))
	w.copies.Store(false)
	w.memcachedWithSlots("cache", 1, cachev1.SlotsDNS, func(spec *cachev1.MemcachedSpec) {
		spec.Slots.ClientHash = cachev1.HashKetama
		spec.Bootstrap = &cachev1.Bootstrap{From: cachev1.BootstrapSource{Servers: []string{"old-1:11211"}}}
	})
	mc := w.bootstrapped(cachev1.ReasonBootstrapFailed)
	condition := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionBootstrapped)
	w.Expect(condition.Message).To(gomega.HavePrefix("DumpForbidden: old-1:11211 runs with -X"))
	w.Eventually(w.events).Should(gomega.ContainElement(gomega.ContainSubstring("BootstrapFailed")))
}

// TestABootstrapTakesOverNoOtherDeployment: another client has created a Deployment with the name that the bootstrap
// needs. The operator neither takes this Deployment over, nor deletes it later.
func TestABootstrapTakesOverNoOtherDeployment(t *testing.T) {
	w := newSlotWorld(t)
	labels := map[string]string{"app": "memcached", "memcached_cr": "cache-bootstrap"}
	other := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "cache-bootstrap", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "other", Image: "other"}}},
			},
		},
	}
	w.Expect(cluster.Create(w.ctx, other)).To(gomega.Succeed())
	version := other.ResourceVersion
	w.create("cache", cachev1.MemcachedSpec{
		Size: new(int32(1)), Slots: &cachev1.Slots{ClientHash: cachev1.HashKetama},
		Bootstrap: &cachev1.Bootstrap{From: cachev1.BootstrapSource{Servers: []string{"old:11211"}}},
	})
	mc := w.reason("cache", cachev1.ReasonOwnershipConflict)
	w.Expect(meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady).Message).To(gomega.ContainSubstring(`Deployment "cache-bootstrap"`))
	w.patchSpec(`{"bootstrap":null}`)
	w.reason("cache", cachev1.ReasonAllPodsReady)
	w.quiet()
	if now := get(w.world, "cache-bootstrap", &appsv1.Deployment{}); now.Spec.Selector.MatchLabels["memcached_cr"] != "cache-bootstrap" ||
		now.DeletionTimestamp != nil || now.Generation != other.Generation {
		t.Errorf("it was changed: version %s, now %+v", version, now)
	}
}
