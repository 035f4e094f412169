package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

const nightly = "nightly-20261127T120000Z"

// fromSnapshot sets a spec that fills the cache with a snapshot.
func fromSnapshot(spec *cachev1.MemcachedSpec) {
	spec.Bootstrap = &cachev1.Bootstrap{From: cachev1.BootstrapSource{Snapshot: &cachev1.BootstrapSnapshot{
		Name: nightly, SnapshotTarget: cachev1.SnapshotTarget{URL: backups},
	}}}
}

// restored waits until the condition Bootstrapped has this reason, and a message with this text.
func (w *world) restored(reason, text string) *cachev1.Memcached {
	w.t.Helper()
	return eventually(w, "cache", &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool {
		is := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionBootstrapped)
		return is != nil && is.Reason == reason && strings.Contains(is.Message, text) &&
			(is.Status == metav1.ConditionTrue) == (reason == cachev1.ReasonBootstrapRestored)
	})
}

// restoringJob waits for a Job of a restore that is not being deleted.
func (w *world) restoringJob() *batchv1.Job {
	w.t.Helper()
	return eventually(w, "cache-restore", &batchv1.Job{}, func(job *batchv1.Job) bool { return job.DeletionTimestamp == nil })
}

// otherRestoringJob waits until another Job, which has this argument, has replaced the previous Job.
func (w *world) otherRestoringJob(before *batchv1.Job, argument string) {
	w.t.Helper()
	w.Eventually(func() bool {
		w.endJobPods("cache-restore")
		job := &batchv1.Job{}
		return cluster.Get(w.ctx, client.ObjectKeyFromObject(before), job) == nil && job.UID != before.UID &&
			slices.Contains(job.Spec.Template.Spec.Containers[0].Args, argument)
	}).Should(gomega.BeTrue())
}

func requestsOf(requests []string, resource string) (found []string) {
	for _, request := range requests {
		if strings.Contains(request, resource) {
			found = append(found, request)
		}
	}
	return found
}

func TestASnapshotIsRestoredOnce(t *testing.T) {
	w := newSlotWorld(t)
	w.memcachedWithSlots("cache", 2, cachev1.SlotsDNS, func(spec *cachev1.MemcachedSpec) {
		spec.Slots.ClientHash = cachev1.HashRendezvous
		spec.NetworkPolicy = &cachev1.NetworkPolicy{From: []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}}
		fromSnapshot(spec)
	})
	w.restored(cachev1.ReasonBootstrapRestoring, `Job "cache-restore" adds the items of the snapshot "`+nightly+`"`)
	job := w.restoringJob()
	address := func(slot string) string {
		return "--server=" + slot + "=" + slot + ".cache-slots." + w.namespace + ".svc:11211"
	}
	want := []string{
		"restore", "--name=" + nightly, "--from=" + backups, "--client-hash=Rendezvous", address("cache-0"), address("cache-1"),
		"--bytes-per-second=16777216", "--result-file=/dev/termination-log",
	}
	if diff := cmp.Diff(want, job.Spec.Template.Spec.Containers[0].Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	policy := get(w.world, "cache", &networkingv1.NetworkPolicy{})
	admits := slices.ContainsFunc(policy.Spec.Ingress[0].From, func(peer networkingv1.NetworkPolicyPeer) bool {
		return peer.PodSelector.MatchLabels["cache.example.com/snapshot"] == "cache"
	})
	if labels := job.Spec.Template.Labels; !admits || labels["cache.example.com/snapshot"] != "cache" {
		t.Errorf("the NetworkPolicy does not admit a Pod with %v: %+v", labels, policy.Spec.Ingress[0].From)
	}
	w.endPods("cache-restore", corev1.PodSucceeded, `{"items":30,"restored":{"added":27,"kept":1,"expired":2,"refused":0}}`+"\n")
	restored := w.restored(cachev1.ReasonBootstrapRestored, "27 items were added; 1 keys were in the cache already, 2 had expired, 0 were refused")
	if restored.Status.RestoredSnapshot != nightly || !meta.IsStatusConditionTrue(restored.Status.Conditions, cachev1.ConditionReady) {
		t.Errorf("got %+v", restored.Status)
	}
	requests := w.quiet()
	if jobs := requestsOf(requests, "jobs"); len(jobs) != 1 {
		t.Errorf("got %v, want one patch", jobs)
	}
	w.Expect(w.eventsAbout("Restore")).To(gomega.Equal([]string{"Normal BootstrapRestored", "Normal BootstrapRestoring"}))

	w.stop()
	w.Expect(cluster.Delete(w.ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))).To(gomega.Succeed())
	w.start()
	w.patch(&cachev1.Memcached{}, "cache", `{"spec":{"maxConnections":2000}}`)
	w.Eventually(func() int64 {
		mc := get(w.world, "cache", &cachev1.Memcached{})
		return meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionBootstrapped).ObservedGeneration - mc.Generation
	}).Should(gomega.BeZero())
	if jobs := requestsOf(w.quiet()[len(requests):], "jobs"); len(jobs) > 0 {
		t.Errorf("after a restart, a change and without the Job: %v", jobs)
	}

	w.patch(&cachev1.Memcached{}, "cache", `{"spec":{"bootstrap":{"from":{"snapshot":{"name":"other"}}}}}`)
	w.restored(cachev1.ReasonBootstrapRestoring, `the snapshot "other"`)
	w.patch(&cachev1.Memcached{}, "cache", `{"spec":{"bootstrap":{"from":{"snapshot":{"name":"`+nightly+`"}}}}}`)
	w.restored(cachev1.ReasonBootstrapRestored, "was restored before")
	w.awaitNoJob("cache-restore")
	w.patch(&cachev1.Memcached{}, "cache", `{"spec":{"bootstrap":{"from":{"snapshot":{"name":"other"}}}}}`)
	w.restored(cachev1.ReasonBootstrapRestoring, `the snapshot "other"`)
	before := w.restoringJob()
	w.patch(&cachev1.Memcached{}, "cache", `{"spec":{"slots":{"clientHash":"Ketama"}}}`)
	w.otherRestoringJob(before, "--client-hash=Ketama")
	w.patch(&cachev1.Memcached{}, "cache", `{"spec":{"bootstrap":null}}`)
	w.awaitNoJob("cache-restore")
	w.Eventually(func() bool {
		mc := get(w.world, "cache", &cachev1.Memcached{})
		return mc.Status.RestoredSnapshot == "" && meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionBootstrapped) == nil
	}).Should(gomega.BeTrue())
}

func TestARestoreWaitsForItsSecretAndForTheCache(t *testing.T) {
	w := newSlotWorld(t)
	spec := cachev1.MemcachedSpec{Size: new(int32(0)), Slots: &cachev1.Slots{}}
	fromSnapshot(&spec)
	spec.Bootstrap.From.Snapshot.Credentials = &cachev1.SnapshotCredentials{SecretName: "s3"}
	w.create("cache", spec)
	w.restored(cachev1.ReasonBootstrapWaiting, "its size is 0")
	w.patch(&cachev1.Memcached{}, "cache", `{"spec":{"size":1}}`)
	w.restored(cachev1.ReasonBootstrapWaiting, `spec.bootstrap.from.snapshot.credentials.secretName "s3" does not exist: create the Secret`)
	w.Expect(cluster.Create(w.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "s3"}})).To(gomega.Succeed())
	w.restored(cachev1.ReasonBootstrapRestoring, "")
	if from := w.restoringJob().Spec.Template.Spec.Containers[0].EnvFrom; len(from) != 1 || from[0].SecretRef.Name != "s3" {
		t.Errorf("got %+v", from)
	}
}

func TestARestoreThatFailsSaysWhyAndIsTriedAgainWithoutItsJob(t *testing.T) {
	w := newSlotWorld(t)
	w.memcachedWithSlots("cache", 1, cachev1.SlotsDNS, fromSnapshot)
	w.restored(cachev1.ReasonBootstrapRestoring, "")
	w.endPods("cache-restore", corev1.PodFailed, "error: the bucket \"backups\" has no snapshot of that name\n")
	w.restored(cachev1.ReasonBootstrapRestoring, `tries again: the bucket "backups" has no snapshot`)
	w.patch(&batchv1.Job{}, "cache-restore", `{"spec":{"activeDeadlineSeconds":1}}`)
	w.Eventually(func() string {
		w.endJobPods("cache-restore")
		mc := get(w.world, "cache", &cachev1.Memcached{})
		return meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionBootstrapped).Reason
	}).Should(gomega.Equal(cachev1.ReasonRestoreFailed))
	failed := w.restored(cachev1.ReasonRestoreFailed, "kubectl -n "+w.namespace+" delete job cache-restore")
	if failed.Status.RestoredSnapshot != "" || !meta.IsStatusConditionTrue(failed.Status.Conditions, cachev1.ConditionReady) {
		t.Errorf("got %+v", failed.Status)
	}
	w.Eventually(func() []string { return w.eventsAbout("Restore") }).Should(gomega.ContainElement("Warning RestoreFailed"))
	w.Expect(cluster.Delete(w.ctx, w.restoringJob(), client.PropagationPolicy(metav1.DeletePropagationBackground))).To(gomega.Succeed())
	w.restored(cachev1.ReasonBootstrapRestoring, "")
}

// TestARestoreFollowsTheSpecAndTakesOverNoOtherJob: a Job that the spec no longer requests ends, and a Job of another
// client stays.
func TestARestoreFollowsTheSpecAndTakesOverNoOtherJob(t *testing.T) {
	w := newSlotWorld(t)
	w.memcachedWithSlots("cache", 1, cachev1.SlotsDNS, fromSnapshot)
	w.restored(cachev1.ReasonBootstrapRestoring, "")
	before := w.restoringJob()
	w.stop()
	w.patch(&cachev1.Memcached{}, "cache", `{"spec":{"bootstrap":{"from":{"snapshot":{"name":"other"}}}}}`)
	w.start()
	w.otherRestoringJob(before, "--name=other")
	w.stop()
	w.patch(&cachev1.Memcached{}, "cache", `{"spec":{"bootstrap":null}}`)
	w.start()
	w.awaitNoJob("cache-restore")
	other := w.otherJob("cache-restore")
	w.patch(&cachev1.Memcached{}, "cache", `{"spec":{"bootstrap":{"from":{"snapshot":{"name":"a","url":"s3://b"}}}}}`)
	w.restored(cachev1.ReasonBootstrapFailed, `Job "cache-restore" exists, and does not belong to this Memcached`)
	w.patch(&cachev1.Memcached{}, "cache", `{"spec":{"bootstrap":null}}`)
	w.Eventually(func() *metav1.Condition {
		return meta.FindStatusCondition(get(w.world, "cache", &cachev1.Memcached{}).Status.Conditions, cachev1.ConditionBootstrapped)
	}).Should(gomega.BeNil())
	w.quiet()
	if now := get(w.world, "cache-restore", &batchv1.Job{}); now.UID != other.UID || now.Generation != other.Generation {
		t.Errorf("it was changed: %+v", now)
	}
}
