package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// reachable waits until the Service and the NetworkPolicy have these client ports, and the endpoint in the status has
// the port endpoint.
func (w *world) reachable(endpoint int, ports ...int32) {
	w.t.Helper()
	w.Eventually(func() string {
		var open, served []int32
		for _, port := range get(w, "cache", &networkingv1.NetworkPolicy{}).Spec.Ingress[0].Ports {
			open = append(open, port.Port.IntVal)
		}
		for _, port := range get(w, "cache", &corev1.Service{}).Spec.Ports {
			served = append(served, port.Port)
		}
		return fmt.Sprint(open, served, get(w, "cache", &cachev1.Memcached{}).Status.Endpoint)
	}).Should(gomega.Equal(fmt.Sprint(ports, ports, fmt.Sprintf("cache.%s.svc:%d", w.namespace, endpoint))))
}

func TestSwitchingTLSOnAndOffKeepsEachPodReachable(t *testing.T) {
	w := newWorld(t)
	w.secret("tls", certificate(t, time.Now().Add(time.Hour)))
	w.memcached("cache", 2)
	w.ready("cache")
	w.reachable(11211, 11211)

	w.patchSpec(`{"tls":{"secretName":"tls"}}`) // No Pod becomes ready: the rollout is stuck.
	w.Eventually(func() int { return len(w.uids("cache")) }).Should(gomega.Equal(3))
	w.reachable(11211, 11212, 11211)
	w.quiet()
	w.reachable(11211, 11212, 11211)

	w.patchSpec(`{"tls":null}`) // The change is undone during the rollout.
	w.ready("cache")
	w.reachable(11211, 11211)

	w.patchSpec(`{"tls":{"secretName":"tls"}}`)
	w.ready("cache")
	w.reachable(11212, 11212)
	w.patchSpec(`{"tls":{"plaintext":"Enabled"}}`)
	w.ready("cache")
	w.reachable(11212, 11212, 11211)
	w.patchSpec(`{"tls":{"plaintext":"Loopback"}}`)
	w.Eventually(func() int { return len(w.uids("cache")) }).Should(gomega.Equal(3))
	w.reachable(11212, 11212, 11211)
	w.ready("cache")
	w.reachable(11212, 11212)
	w.patchSpec(`{"tls":null}`)
	w.ready("cache")
	w.reachable(11211, 11211)
}

func TestSecretNotFoundBlocksOnlyThePodTemplate(t *testing.T) {
	w := newWorld(t)
	mc := w.create("new", cachev1.MemcachedSpec{Size: new(int32(2)), TLS: &cachev1.TLS{SecretName: "tls"}})
	w.reason("new", cachev1.ReasonSecretNotFound)
	for _, object := range []client.Object{&corev1.Service{}, &networkingv1.NetworkPolicy{}, &policyv1.PodDisruptionBudget{}} {
		get(w, "new", object)
	}
	err := cluster.Get(w.ctx, client.ObjectKeyFromObject(mc), &appsv1.Deployment{})
	w.Expect(apierrors.IsNotFound(err)).To(gomega.BeTrue(), "its Pods could not start")

	w.memcached("cache", 2)
	w.ready("cache")
	template := w.deployment("cache").Spec.Template
	w.patchSpec(`{"tls":{"secretName":"tls"},"size":3,"threads":7,"networkPolicy":{"from":[{"podSelector":{}}]}}`)
	w.reason("cache", cachev1.ReasonSecretNotFound)
	deployment := w.deployment("cache")
	w.Expect(*deployment.Spec.Replicas).To(gomega.Equal(int32(3)))
	w.Expect(get(w, "cache", &networkingv1.NetworkPolicy{}).Spec.Ingress[0].From).To(gomega.HaveLen(1), "locked down")
	if diff := cmp.Diff(template, deployment.Spec.Template); diff != "" {
		t.Errorf("the template that runs (-before +after):\n%s", diff)
	}
	w.Expect(w.quiet()).NotTo(gomega.BeEmpty())

	w.secret("tls", certificate(t, time.Now().Add(time.Hour)))
	w.ready("cache")
	w.Expect(w.deployment("cache").Spec.Template.Spec.Volumes).To(gomega.HaveLen(1), "with TLS")
	w.ready("new")
}

func TestAPodThatOnlyLooksLikeOneOfTheCacheDoesNotCount(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	nodes := w.ready("cache").Status.Nodes
	pod := w.pods("cache")[0].DeepCopy()
	pod.ObjectMeta = metav1.ObjectMeta{Namespace: w.namespace, Name: "impostor", Labels: pod.Labels}
	pod.Spec.Containers[0].Ports[0].Name = "memcached-tls"
	delete(pod.Labels, "pod-template-hash") // Otherwise the ReplicaSet would adopt this Pod, and remove one.
	w.Expect(cluster.Create(w.ctx, pod)).To(gomega.Succeed())
	w.patchSpec(`{"size":2}`)
	after := w.ready("cache").Status.Nodes
	w.Expect(after).To(gomega.And(gomega.HaveLen(2), gomega.ContainElements(nodes), gomega.Not(gomega.ContainElement("impostor"))))
	w.reachable(11211, 11211)
}

func TestDriftInThePodTemplateIsReverted(t *testing.T) {
	w, at := newUpgradeWorld(t)
	release{image: imageOne}.start(w, at)
	w.memcached("cache", 2)
	w.ready("cache")
	w.stop()
	w.patch(&appsv1.Deployment{}, "cache", `{"metadata":{"annotations":{"cache.example.com/template-inputs":null}},
		"spec":{"template":{"spec":{"containers":[{"name":"memcached","image":"registry.example.com/unowned:1"}]}}}}`)
	release{image: imageTwo}.start(w, at)
	eventually(w, "cache", &appsv1.Deployment{}, func(d *appsv1.Deployment) bool {
		return d.Spec.Template.Spec.Containers[0].Image == imageOne
	})
	w.waits("cache", oneToTwo)

	w.patchSpec(`{"image":"registry.example.com/mine:1"}`)
	w.ready("cache")
	w.patchSpec(`{"image":null}`)
	w.ready("cache")
	w.Expect(w.deployment("cache").Spec.Template.Spec.Containers[0].Image).To(gomega.Equal(imageTwo))
	w.waits("cache", "")
}

func TestTheFirstDeploymentWaitsForItsNetworkPolicy(t *testing.T) {
	w := newWorld(t)
	unowned := &networkingv1.NetworkPolicy{}
	unowned.Namespace, unowned.Name = w.namespace, "cache"
	w.Expect(cluster.Create(w.ctx, unowned.DeepCopy())).To(gomega.Succeed())
	mc := w.memcached("cache", 1)
	w.reason("cache", cachev1.ReasonOwnershipConflict)
	w.says("cache", "in the meantime, no Pods are created")
	err := cluster.Get(w.ctx, client.ObjectKeyFromObject(mc), &appsv1.Deployment{})
	w.Expect(apierrors.IsNotFound(err)).To(gomega.BeTrue())
	w.Expect(cluster.Delete(w.ctx, unowned.DeepCopy())).To(gomega.Succeed())
	w.patchSpec(`{"size":0}`)
	w.ready("cache")
	w.stop()
	w.Expect(cluster.Delete(w.ctx, get(w, "cache", &networkingv1.NetworkPolicy{}))).To(gomega.Succeed())
	w.Expect(cluster.Create(w.ctx, unowned.DeepCopy())).To(gomega.Succeed())
	w.start()
	w.patchSpec(`{"size":2}`)
	w.reason("cache", cachev1.ReasonOwnershipConflict)
	w.says("cache", "in the meantime, no Pods are created")
	w.Expect(*w.deployment("cache").Spec.Replicas).To(gomega.BeZero())
	w.Expect(cluster.Delete(w.ctx, get(w, "cache", &networkingv1.NetworkPolicy{}))).To(gomega.Succeed())
	w.patchSpec(`{"size":3}`)
	w.ready("cache")

	w.stop()
	uids := w.uids("cache")
	w.Expect(cluster.Delete(w.ctx, get(w, "cache", &networkingv1.NetworkPolicy{}))).To(gomega.Succeed())
	w.Expect(cluster.Create(w.ctx, unowned)).To(gomega.Succeed())
	w.start()
	w.reason("cache", cachev1.ReasonOwnershipConflict)
	w.says("cache", "in the meantime, no NetworkPolicy of this Memcached restricts access")
	w.Expect(w.uids("cache")).To(gomega.Equal(uids), "a cache that runs is not stopped")
}

// TestARecordThatIsLostInBothPlacesReplacesNoPod: the record of the template inputs is lost in the status and in the
// annotation, but the operator recognizes the Pod template that it applied.
func TestARecordThatIsLostInBothPlacesReplacesNoPod(t *testing.T) {
	w, at := newUpgradeWorld(t)
	release{image: imageOne, architectures: "amd64"}.start(w, at)
	mc := w.memcached("cache", 2)
	w.ready("cache")
	uids := w.uids("cache")
	w.stop()
	w.patch(&appsv1.Deployment{}, "cache", `{"metadata":{"annotations":{"cache.example.com/template-inputs":null}}}`)
	raw := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"templateInputs":null}}`))
	w.Expect(cluster.Status().Patch(w.ctx, mc, raw)).To(gomega.Succeed())
	release{image: imageTwo, architectures: "s390x"}.start(w, at)
	w.waits("cache", oneToTwo+"; architectures amd64 -> s390x")
	w.quiet()
	w.Expect(w.uids("cache")).To(gomega.Equal(uids))
	w.Expect(get(w, "cache", &cachev1.Memcached{}).Status.TemplateInputs).NotTo(gomega.BeEmpty(), "it is recorded again")
}

// TestNoPodIsReplacedBeforeTheNetworkPolicyHasTheNewPorts: otherwise no client could reach the new Pods.
func TestNoPodIsReplacedBeforeTheNetworkPolicyHasTheNewPorts(t *testing.T) {
	w := newWorld(t)
	w.secret("tls", certificate(t, time.Now().Add(time.Hour)))
	w.memcached("cache", 2)
	w.ready("cache")
	uids := w.uids("cache")
	allow := w.refuse(admissionv1.Update, "networking.k8s.io", "networkpolicies", "false", func() error {
		policy := get(w, "cache", &networkingv1.NetworkPolicy{})
		policy.SetLabels(map[string]string{"try": "it"})
		return cluster.Update(w.ctx, policy, client.DryRunAll)
	})
	w.patchSpec(`{"tls":{"secretName":"tls"}}`)
	w.reason("cache", cachev1.ReasonApplyFailed)
	w.says("cache", "in the meantime, no Pods are replaced: the NetworkPolicy must allow the new ports first")
	if diff := cmp.Diff(uids, w.uids("cache")); diff != "" {
		t.Errorf("Pods (-before +after):\n%s", diff)
	}
	w.patchSpec(`{"threads":7}`)
	w.reason("cache", cachev1.ReasonApplyFailed)
	w.Expect(w.rollouts("cache")).To(gomega.Equal(1))
	allow()
	w.ready("cache")
	w.reachable(11212, 11212)
}
