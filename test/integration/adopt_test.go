package integration

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// adoptCommand matches the command that the message of a conflict gives, so that the operator adopts the object.
var adoptCommand = regexp.MustCompile(`let the operator adopt it: kubectl -n (\S+) annotate (\S+) (\S+) (\S+)=(\S+?)( --overwrite)?(;|$)`)

func TestAnUnownedObjectWithTheAnnotationAdoptByIsAdopted(t *testing.T) {
	w := newWorld(t)
	deployment, service := deploymentLike(w.namespace, ourSelector), serviceLike(w.namespace, corev1.ClusterIPNone)
	service.Annotations = map[string]string{cachev1.AnnotationAdoptBy: "other"}
	w.Expect(cluster.Create(w.ctx, deployment)).To(gomega.Succeed())
	w.Expect(cluster.Create(w.ctx, service)).To(gomega.Succeed())
	mc := w.memcached("cache", 1)
	message := meta.FindStatusCondition(w.reason("cache", cachev1.ReasonOwnershipConflict).Status.Conditions, "Ready").Message

	commands := adoptCommand.FindAllStringSubmatch(message, -1)
	w.Expect(commands).To(gomega.HaveLen(2), message)
	for _, command := range commands {
		object := map[string]client.Object{"deployment": deployment, "service": service}[command[2]]
		w.Expect(object).NotTo(gomega.BeNil(), message)
		w.Expect(command[1]).To(gomega.Equal(w.namespace))
		w.Expect(command[6] != "").To(gomega.Equal(command[2] == "service"), "kubectl overwrites only on request")
		w.patch(object, command[3], fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, command[4], command[5]))
	}
	w.ready("cache")

	adopted := w.deployment("cache")
	w.Expect(adopted.UID).To(gomega.Equal(deployment.UID))
	w.Expect(metav1.IsControlledBy(adopted, mc)).To(gomega.BeTrue())
	w.Expect(adopted.Annotations).To(gomega.HaveKeyWithValue(cachev1.AnnotationAdoptBy, "cache"), "it is unowned, and stays")
	w.Expect(metav1.IsControlledBy(get(w, "cache", &corev1.Service{}), mc)).To(gomega.BeTrue())
}

// TestAnAdoptedDeploymentGetsTheOperatorsHandlers: a hook may have only one handler, and server-side apply alone would
// keep both.
func TestAnAdoptedDeploymentGetsTheOperatorsHandlers(t *testing.T) {
	w := newWorld(t)
	deployment := deploymentLike(w.namespace, ourSelector)
	deployment.Annotations = map[string]string{cachev1.AnnotationAdoptBy: "cache"}
	run := corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sleep", "9"}}}
	probe := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(80)}}
	container := &deployment.Spec.Template.Spec.Containers[0]
	container.Name, container.Lifecycle = "memcached", &corev1.Lifecycle{PreStop: &run}
	container.ReadinessProbe = &corev1.Probe{ProbeHandler: probe}
	w.Expect(cluster.Create(w.ctx, deployment)).To(gomega.Succeed())
	mc := w.memcached("cache", 1)
	w.ready("cache")

	adopted := w.deployment("cache")
	w.Expect(adopted.UID).To(gomega.Equal(deployment.UID))
	w.Expect(metav1.IsControlledBy(adopted, mc)).To(gomega.BeTrue())
	got := adopted.Spec.Template.Spec.Containers[0]
	w.Expect(got.Lifecycle.PreStop.Exec).To(gomega.BeNil())
	w.Expect(got.Lifecycle.PreStop.Sleep).NotTo(gomega.BeNil())
	w.Expect(got.ReadinessProbe.HTTPGet).To(gomega.BeNil())
	w.Expect(got.ReadinessProbe.TCPSocket).NotTo(gomega.BeNil())
}

// TestWhoMayWriteAMemcachedGetsNoPowerOverOtherObjects: the author of a Memcached has no right on a NetworkPolicy, and
// must not be able to change it through the operator.
func TestWhoMayWriteAMemcachedGetsNoPowerOverOtherObjects(t *testing.T) {
	w := newWorld(t)
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.namespace, Name: "cache", Labels: ourSelector, // These labels make the operator cache it.
	}}
	w.Expect(cluster.Create(w.ctx, policy)).To(gomega.Succeed())
	before := spelled(w, policy)
	w.Expect(cluster.Create(w.ctx, &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.namespace, Name: "cache", Annotations: map[string]string{
			"cache.example.com/adopt": "networkpolicy", cachev1.AnnotationAdoptBy: "cache",
		},
	}})).To(gomega.Succeed())
	w.reason("cache", cachev1.ReasonOwnershipConflict)
	w.patchSpec(`{"networkPolicy":{"mode":"Disabled"}}`)
	w.ready("cache")
	w.quiet()
	w.Expect(spelled(w, policy)).To(gomega.Equal(before))
}

// TestOwnershipConflictAfterTheAnnotationAdoptByIsRemoved: the operator reads the object with the annotation, and
// another client removes the annotation before the operator writes.
func TestOwnershipConflictAfterTheAnnotationAdoptByIsRemoved(t *testing.T) {
	w, at := newUpgradeWorld(t)
	service := serviceLike(w.namespace, corev1.ClusterIPNone)
	service.Annotations = map[string]string{cachev1.AnnotationAdoptBy: "cache"}
	w.Expect(cluster.Create(w.ctx, service)).To(gomega.Succeed())
	var before, after string
	withdrawn := at.during("patch services/cache", "force=true", func() {
		w.patch(service, "cache", `{"metadata":{"annotations":null}}`)
		before = spelled(w, service)
	}, func() { after = spelled(w, service) })
	w.startWith(nil, "--watch-namespaces="+w.namespace)
	w.memcached("cache", 1)
	w.Eventually(withdrawn).Should(gomega.Receive(gomega.Equal(409)))
	w.Expect(after).To(gomega.Equal(before))
	w.reason("cache", cachev1.ReasonOwnershipConflict)
}

// TestAnOrphanedObjectThatIsNotDesiredIsDeleted: the operator may delete such an object, because the object's managed
// fields show that the operator created it.
func TestAnOrphanedObjectThatIsNotDesiredIsDeleted(t *testing.T) {
	w := newWorld(t)
	former := w.memcached("cache", 1)
	w.ready("cache")
	w.orphan(former)
	policy := get(w, "cache", &networkingv1.NetworkPolicy{})
	w.create("cache", cachev1.MemcachedSpec{
		Size: new(int32(1)), NetworkPolicy: &cachev1.NetworkPolicy{Mode: cachev1.NetworkPolicyDisabled},
	})
	w.ready("cache")
	w.Eventually(func() error { return cluster.Get(w.ctx, client.ObjectKeyFromObject(policy), policy) }).ShouldNot(gomega.Succeed())
	w.Eventually(w.events).Should(gomega.ContainElement("Normal Deleted NetworkPolicy"))
}

// TestOwnershipConflictOfAServiceThatIsNotHeadlessNamesTheFix: no client can make an existing Service headless, so this
// Service has to be deleted.
func TestOwnershipConflictOfAServiceThatIsNotHeadlessNamesTheFix(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	w.ready("cache")
	mine := get(w, "cache", &corev1.Service{})
	copied := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.namespace, Name: "cache", Labels: mine.Labels, Annotations: mine.Annotations,
		OwnerReferences: mine.OwnerReferences,
	}, Spec: *mine.Spec.DeepCopy()}
	copied.Spec.ClusterIP, copied.Spec.ClusterIPs = "", nil
	w.stop()
	w.Expect(cluster.Delete(w.ctx, mine)).To(gomega.Succeed())
	w.Expect(cluster.Create(w.ctx, copied)).To(gomega.Succeed())
	w.start()

	mc := w.reason("cache", cachev1.ReasonOwnershipConflict)
	w.Expect(meta.FindStatusCondition(mc.Status.Conditions, "Ready").Message).To(gomega.Equal(
		`Service "cache" already exists and has a different cluster IP, which is immutable; the operator did not change it. ` +
			`Fix: delete it, and the operator creates it again`))
	w.Expect(cluster.Delete(w.ctx, copied)).To(gomega.Succeed())
	w.ready("cache")
}
