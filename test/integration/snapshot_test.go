package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

const backups = "s3://backups?region=eu-central-1&prefix=caches/"

// snapshot creates a MemcachedSnapshot of the cache "cache".
func (w *world) snapshot(name string, changes ...func(*cachev1.MemcachedSnapshotSpec)) *cachev1.MemcachedSnapshot {
	w.t.Helper()
	snapshot := &cachev1.MemcachedSnapshot{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec: cachev1.MemcachedSnapshotSpec{
			MemcachedRef: cachev1.MemcachedReference{Name: "cache"}, To: cachev1.SnapshotTarget{URL: backups},
		},
	}
	for _, change := range changes {
		change(&snapshot.Spec)
	}
	w.Expect(cluster.Create(w.ctx, snapshot)).To(gomega.Succeed())
	return snapshot
}

// snapshotReason waits until the condition Ready has this reason and a message with this text, and checks that the
// status follows the conventions of kstatus.
func (w *world) snapshotReason(name, reason, text string) *cachev1.MemcachedSnapshot {
	w.t.Helper()
	snapshot := eventually(w, name, &cachev1.MemcachedSnapshot{}, func(s *cachev1.MemcachedSnapshot) bool {
		ready := meta.FindStatusCondition(s.Status.Conditions, cachev1.ConditionReady)
		return ready != nil && ready.Reason == reason && strings.Contains(ready.Message, text)
	})
	var set []string
	for _, condition := range snapshot.Status.Conditions {
		if condition.Status == metav1.ConditionTrue {
			set = append(set, condition.Type)
		}
	}
	if len(set) != 1 || snapshot.Status.ObservedGeneration != snapshot.Generation {
		w.t.Errorf("of Ready, Reconciling and Stalled, these are True: %v; generation %d", set, snapshot.Status.ObservedGeneration)
	}
	return snapshot
}

// endPods ends the Pods of a Job, instead of the kubelet.
func (w *world) endPods(job string, phase corev1.PodPhase, message string) {
	w.t.Helper()
	ended := 0
	w.Eventually(func() int {
		list := &corev1.PodList{}
		w.Expect(cluster.List(w.ctx, list, client.InNamespace(w.namespace), client.MatchingLabels{batchv1.JobNameLabel: job})).To(gomega.Succeed())
		for i := range list.Items {
			pod := &list.Items[i]
			if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
				continue
			}
			code := int32(0)
			if phase == corev1.PodFailed {
				code = 1
			}
			pod.Status.Phase = phase
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "snapshot", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message, FinishedAt: metav1.Now(), StartedAt: metav1.Now()},
			}}}
			if cluster.Status().Update(w.ctx, pod) == nil {
				ended++
			}
		}
		return ended
	}).Should(gomega.BeNumerically(">", 0))
}

// eventsAbout returns the events of an action.
func (w *world) eventsAbout(action string) (events []string) {
	list := &eventsv1.EventList{}
	w.Expect(cluster.List(w.ctx, list, client.InNamespace(w.namespace))).To(gomega.Succeed())
	for _, event := range list.Items {
		if event.Action == action {
			events = append(events, event.Type+" "+event.Reason)
		}
	}
	slices.Sort(events)
	return events
}

func TestASnapshotOfACacheWithSlotsIsSavedOnce(t *testing.T) {
	w := newSlotWorld(t)
	w.memcachedWithSlots("cache", 2, cachev1.SlotsDNS)
	before := len(w.quiet())
	created := w.snapshot("nightly", func(s *cachev1.MemcachedSnapshotSpec) {
		s.To.Credentials = &cachev1.SnapshotCredentials{ServiceAccountName: "backup"}
	})
	w.Expect(cluster.Create(w.ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "backup"}})).To(gomega.Succeed())
	name := "nightly" + created.CreationTimestamp.UTC().Format("-20060102T150405Z-") + string(created.UID)[:8]
	saving := w.snapshotReason("nightly", cachev1.ReasonSaving, `Job "nightly" saves the keys`)
	if saving.Status.StartTime == nil || saving.Status.SnapshotName != name {
		t.Errorf("got %+v", saving.Status)
	}
	job := get(w.world, "nightly", &batchv1.Job{})
	address := func(slot string) string {
		return "--server=" + slot + "=" + slot + ".cache-slots." + w.namespace + ".svc:11211"
	}
	want := []string{
		"save", "--once", "--owner=" + string(created.UID), "--cache=cache", "--name=" + name, "--to=" + backups, address("cache-0"), address("cache-1"),
		"--bytes-per-second=16777216", "--result-file=/dev/termination-log",
	}
	if diff := cmp.Diff(want, job.Spec.Template.Spec.Containers[0].Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	w.endPods("nightly", corev1.PodSucceeded, `{"name":"x","servers":2,"items":30,"bytes":2000,"stored":500}`+"\n")
	saved := w.snapshotReason("nightly", cachev1.ReasonSaved, "30 items of 2 servers")
	got := saved.Status
	if got.Items != 30 || got.Bytes != 2000 || got.StoredBytes != 500 || got.Servers != 2 || got.CompletionTime == nil || got.SnapshotName != name {
		t.Errorf("got %+v", got)
	}
	requests := w.quiet()
	if diff := cmp.Diff([]string{"patch jobs", "patch memcachedsnapshots/status", "patch memcachedsnapshots/status"}, requests[before:]); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	w.Expect(w.eventsAbout("Save")).To(gomega.Equal([]string{"Normal Saved", "Normal Saving"}))

	w.stop()
	w.Expect(cluster.Delete(w.ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))).To(gomega.Succeed())
	w.start()
	w.memcached("probe", 0)
	w.reason("probe", cachev1.ReasonScaledToZero)
	for _, request := range w.quiet()[len(requests):] {
		if strings.Contains(request, "jobs") || strings.Contains(request, "memcachedsnapshots") {
			t.Errorf("after a restart, and without the Job: %s", request)
		}
	}

	w.snapshot("other")
	w.snapshotReason("other", cachev1.ReasonSaving, "")
	w.Expect(cluster.Delete(w.ctx, get(w.world, "other", &cachev1.MemcachedSnapshot{}))).To(gomega.Succeed())
	w.awaitNoJob("other")
}

// endJobPods completes the deletion of a Job's Pods, instead of the kubelet.
func (w *world) endJobPods(job string) {
	list := &corev1.PodList{}
	w.Expect(cluster.List(w.ctx, list, client.InNamespace(w.namespace), client.MatchingLabels{batchv1.JobNameLabel: job})).To(gomega.Succeed())
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp != nil {
			_ = cluster.Delete(w.ctx, &list.Items[i], client.GracePeriodSeconds(0))
		}
	}
}

// awaitNoJob waits until a Job is deleted.
func (w *world) awaitNoJob(name string) {
	w.t.Helper()
	w.Eventually(func() bool {
		w.endJobPods(name)
		return apierrors.IsNotFound(cluster.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, &batchv1.Job{}))
	}).Should(gomega.BeTrue(), "the Job is deleted")
}

// otherJob creates a Job of another client, which never runs.
func (w *world) otherJob(name string) *batchv1.Job {
	w.t.Helper()
	other := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec: batchv1.JobSpec{Suspend: new(true), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "other", Image: "other"}},
		}}},
	}
	w.Expect(cluster.Create(w.ctx, other)).To(gomega.Succeed())
	return other
}

func TestASnapshotWaitsForItsCacheAndItsSecret(t *testing.T) {
	w := newWorld(t)
	w.snapshot("nightly", func(s *cachev1.MemcachedSnapshotSpec) {
		s.To.Credentials = &cachev1.SnapshotCredentials{SecretName: "s3"}
	})
	w.snapshotReason("nightly", cachev1.ReasonMemcachedNotFound, `spec.memcachedRef.name "cache" does not exist: create the Memcached`)
	w.memcached("cache", 0)
	w.snapshotReason("nightly", cachev1.ReasonMemcachedNotReady, "its size is 0")
	w.Expect(cluster.Patch(w.ctx, get(w, "cache", &cachev1.Memcached{}), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"size":1}}`)))).To(gomega.Succeed())
	w.snapshotReason("nightly", cachev1.ReasonMemcachedNotReady, "has the reason")
	w.Eventually(func() int { return len(w.pods("cache")) }).Should(gomega.Equal(1))
	pod := w.pods("cache")[0]
	pod.Status.PodIP, pod.Status.PodIPs = "10.1.2.3", []corev1.PodIP{{IP: "10.1.2.3"}}
	makeReady(w, &pod)
	w.snapshotReason("nightly", cachev1.ReasonSecretNotFound, `spec.to.credentials.secretName "s3" does not exist: create the Secret`)
	w.Expect(cluster.Create(w.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "s3"}})).To(gomega.Succeed())
	w.snapshotReason("nightly", cachev1.ReasonSaving, "")
	job := get(w, "nightly", &batchv1.Job{})
	if args := job.Spec.Template.Spec.Containers[0].Args; !slices.Contains(args, "--server="+pod.Name+"=10.1.2.3:11211") {
		t.Errorf("the Pod is no server: %v", args)
	}
}

func TestASnapshotThatFailsSaysWhyAndIsNotTriedAgain(t *testing.T) {
	w := newSlotWorld(t)
	w.memcachedWithSlots("cache", 1, cachev1.SlotsDNS)
	w.snapshot("nightly")
	const message = "3 of about 9 items, 80 bytes\nerror: s3: the bucket \"backups\" does not exist\n"
	w.snapshotReason("nightly", cachev1.ReasonSaving, "")
	w.endPods("nightly", corev1.PodFailed, message)
	w.snapshotReason("nightly", cachev1.ReasonSaving, `tries again: s3: the bucket "backups" does not exist`)
	w.Expect(cluster.Delete(w.ctx, get(w.world, "nightly", &batchv1.Job{}), client.PropagationPolicy(metav1.DeletePropagationBackground))).To(gomega.Succeed())
	failed := w.snapshotReason("nightly", cachev1.ReasonSaveFailed, "was deleted before its result was known. The save is not tried again")
	if failed.Status.CompletionTime != nil {
		t.Errorf("got %+v", failed.Status)
	}

	w.snapshot("weekly")
	w.snapshotReason("weekly", cachev1.ReasonSaving, "")
	deadline := `{"spec":{"activeDeadlineSeconds":1}}`
	w.Expect(cluster.Patch(w.ctx, get(w.world, "weekly", &batchv1.Job{}), client.RawPatch("application/merge-patch+json", []byte(deadline)))).To(gomega.Succeed())
	w.Eventually(func() bool {
		w.endJobPods("weekly")
		s := get(w.world, "weekly", &cachev1.MemcachedSnapshot{})
		return meta.FindStatusCondition(s.Status.Conditions, cachev1.ConditionReady).Reason == cachev1.ReasonSaveFailed
	}).Should(gomega.BeTrue())
	w.snapshotReason("weekly", cachev1.ReasonSaveFailed, "Job was active longer than specified deadline")
	w.Eventually(func() []string { return w.eventsAbout("Save") }).Should(gomega.ContainElement("Warning SaveFailed"))
}

func TestASnapshotTakesOverNoOtherJob(t *testing.T) {
	w := newSlotWorld(t)
	w.memcachedWithSlots("cache", 1, cachev1.SlotsDNS)
	other := w.otherJob("nightly")
	w.snapshot("nightly")
	w.snapshotReason("nightly", cachev1.ReasonOwnershipConflict, `Job "nightly" exists`)
	if now := get(w.world, "nightly", &batchv1.Job{}); now.Spec.Template.Spec.Containers[0].Name != "other" || len(now.OwnerReferences) > 0 || now.Generation != other.Generation {
		t.Errorf("it was changed: %+v", now)
	}
}

func TestAnInvalidSnapshotIsRefused(t *testing.T) {
	w := newWorld(t)
	type spec = cachev1.MemcachedSnapshotSpec
	for sentence, tc := range map[string]struct {
		name   string
		change func(*spec)
		want   string
	}{
		"no target":          {"a", func(s *spec) { s.To = cachev1.SnapshotTarget{} }, "a snapshot needs either a bucket, by url, or a volume"},
		"two targets":        {"a", func(s *spec) { s.To.PersistentVolumeClaim = &cachev1.SnapshotVolume{ClaimName: "backups"} }, "a snapshot needs either a bucket, by url, or a volume"},
		"a folder as a URL":  {"a", func(s *spec) { s.To.URL = "file:///tmp" }, "spec.to.url"},
		"a login in the URL": {"a", func(s *spec) { s.To.URL = "s3://user:password@backups" }, "spec.to.url"},
		"two credentials": {"a", func(s *spec) {
			s.To.Credentials = &cachev1.SnapshotCredentials{SecretName: "a", ServiceAccountName: "b"}
		}, "credentials need either a Secret"},
		"empty credentials":   {"a", func(s *spec) { s.To.Credentials = &cachev1.SnapshotCredentials{} }, "credentials need either a Secret"},
		"a volume with a key": {"a", func(s *spec) { *s = volume(*s); s.To.Credentials = &cachev1.SnapshotCredentials{SecretName: "a"} }, "credentials are only for a bucket"},
		"too slow":            {"a", func(s *spec) { s.BytesPerSecond = new(resource.MustParse("1Ki")) }, "bytesPerSecond must be a quantity of at least 64Ki"},
		"too fast":            {"a", func(s *spec) { s.BytesPerSecond = new(resource.MustParse("65Gi")) }, "bytesPerSecond must be at most 64Gi"},
		"a name with a dot":   {"a.b", func(*spec) {}, `metadata.name "a.b" can not name a Job`},
		"a long name":         {strings.Repeat("a", 64), func(*spec) {}, "can not name a Job"},
		"the longest name":    {strings.Repeat("a", 63), func(*spec) {}, ""},
		"a volume":            {"volume", func(s *spec) { *s = volume(*s) }, ""},
	} {
		snapshot := &cachev1.MemcachedSnapshot{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: tc.name},
			Spec:       spec{MemcachedRef: cachev1.MemcachedReference{Name: "none"}, To: cachev1.SnapshotTarget{URL: backups}},
		}
		tc.change(&snapshot.Spec)
		err := cluster.Create(w.ctx, snapshot)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: got %v, want %q", sentence, err, tc.want)
		}
	}
	for _, patch := range []string{`{"spec":{"to":{"url":"gs://other"}}}`, `{"spec":{"bytesPerSecond":"1Mi"}}`, `{"spec":{"memcachedRef":{"name":"other"}}}`} {
		err := cluster.Patch(w.ctx, get(w, "volume", &cachev1.MemcachedSnapshot{}), client.RawPatch("application/merge-patch+json", []byte(patch)))
		if err == nil || !strings.Contains(err.Error(), "spec cannot change, because each MemcachedSnapshot is one snapshot") && !strings.Contains(err.Error(), "a snapshot needs either") {
			t.Errorf("%s: got %v", patch, err)
		}
	}
}

func volume(s cachev1.MemcachedSnapshotSpec) cachev1.MemcachedSnapshotSpec {
	s.To = cachev1.SnapshotTarget{PersistentVolumeClaim: &cachev1.SnapshotVolume{ClaimName: "backups"}}
	return s
}
