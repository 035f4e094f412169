//go:build e2e

package e2e

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// filledWith is the number of keys on the other server.
const filledWith = 5000

// TestACacheIsFilledFromAnotherServer moves the keys of a Pod that runs the unchanged official image. A user with the
// Role of the docs cuts over. Another test, in operator/internal/agent/handoff, checks that no client reads an outdated
// value.
func TestACacheIsFilledFromAnotherServer(t *testing.T) {
	c.shared(t)
	it := newCache(t, "moved-in", cachev1.MemcachedSpec{
		Image: newMemcached(t), Size: new(int32(2)), TerminationDelaySeconds: new(int32(1)),
		Slots: &cachev1.Slots{ClientHash: cachev1.HashRendezvous},
	})
	old := it.runsOtherServer("old")
	it.stores(old, filledWith)
	it.says(cachev1.ReasonAllPodsReady, "2 of 2 Pods ready")

	plugin := it.newPlugin()
	it.grantsRoleOfTheDocs("ClusterRole")
	it.patch(`{"bootstrap":{"from":{"servers":["old.moved-in.svc:11211"]}}}`)
	it.isBootstrapped(cachev1.ReasonBootstrapFollowing)
	it.holds(filledWith)
	it.stores(old, filledWith+1)
	it.holds(filledWith + 1)

	it.Eventually(func() string { // The copy may begin again, because the many writes may have overflowed the watch log.
		out, _ := plugin("cutover", it.key.Name, "--yes")
		return out
	}).WithTimeout(3 * time.Minute).WithPolling(time.Second).Should(gomega.ContainSubstring(" cuts over"))
	it.isBootstrapped(cachev1.ReasonBootstrapCutOver)
	it.holds(filledWith + 1)
	it.stores(old, 10)
	it.holds(filledWith + 1 - 10)

	it.patch(`{"bootstrap":null}`)
	it.Eventually(func() bool {
		key := client.ObjectKey{Namespace: it.key.Namespace, Name: "moved-in-bootstrap"}
		return apierrors.IsNotFound(c.Client.Get(t.Context(), key, &appsv1.Deployment{})) && len(it.all()) == 2
	}).WithTimeout(2 * time.Minute).Should(gomega.BeTrue())
	it.Expect(c.Client.Delete(t.Context(), old)).To(gomega.Succeed())
	it.holds(filledWith + 1 - 10)
}

// isBootstrapped waits until the condition Bootstrapped has this reason.
func (it *cache) isBootstrapped(reason string) {
	it.t.Helper()
	var last *metav1.Condition
	it.Eventually(func() string {
		if last = meta.FindStatusCondition(it.get().Status.Conditions, cachev1.ConditionBootstrapped); last == nil {
			return ""
		}
		return last.Reason
	}).WithTimeout(3*time.Minute).Should(gomega.Equal(reason), "last seen: %v", last)
}

// holds waits until the Pods of the cache together have this number of keys.
func (it *cache) holds(keys int) {
	it.t.Helper()
	it.Eventually(func(g gomega.Gomega) {
		held := 0.0
		for pod := range it.pods() {
			held += it.metricsOf(pod).value("memcached_current_items")
		}
		g.Expect(held).To(gomega.BeEquivalentTo(keys))
	}).WithTimeout(2 * time.Minute).Should(gomega.Succeed())
}

// runsOtherServer runs a memcached that does not belong to the cache, with a Service of the same name as its Pod.
func (it *cache) runsOtherServer(name string) *corev1.Pod {
	it.t.Helper()
	labels := map[string]string{"app": name}
	metadata := metav1.ObjectMeta{Namespace: it.key.Namespace, Name: name, Labels: labels}
	pod := &corev1.Pod{ObjectMeta: metadata, Spec: corev1.PodSpec{
		AutomountServiceAccountToken: new(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(11211)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: "memcached", Image: newMemcached(it.t), ImagePullPolicy: corev1.PullIfNotPresent, ReadinessProbe: listens(),
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
	}}
	it.Expect(c.Client.Create(it.t.Context(), pod)).To(gomega.Succeed())
	it.Expect(c.Client.Create(it.t.Context(), &corev1.Service{ObjectMeta: metadata, Spec: corev1.ServiceSpec{
		Selector: labels, ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Name: "memcached", Port: 11211}},
	}})).To(gomega.Succeed())
	it.Eventually(func() bool {
		it.Expect(c.Client.Get(it.t.Context(), client.ObjectKeyFromObject(pod), pod)).To(gomega.Succeed())
		return podIsReady(pod)
	}).WithTimeout(2 * time.Minute).Should(gomega.BeTrue())
	return pod
}

// listens returns a readiness probe for a memcached that the operator does not manage. The probe is necessary because
// the container runs before memcached accepts connections.
func listens() *corev1.Probe {
	return &corev1.Probe{
		PeriodSeconds: 1,
		ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(11211)}},
	}
}
