//go:build e2e

package e2e

import (
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/certificates"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestClientsOnTheOldAndOnTheNewPortAreServedWhileTLSIsSwitchedOn checks clients on both ports while the rollout is
// stuck, while it is half-way, and when it is complete.
func TestClientsOnTheOldAndOnTheNewPortAreServedWhileTLSIsSwitchedOn(t *testing.T) {
	c.shared(t)
	const name = "ports"
	it := newCache(t, name, cachev1.MemcachedSpec{Size: new(int32(2))})
	ca := certificates.NewAuthority(t, name)
	pair := certificates.Issue(t, ca, name+"."+name+".svc")
	putSecret(t, name, serverSecret, map[string][]byte{"tls.crt": pair.Cert, "tls.key": pair.Key})
	putClients(t, name, ca, nil)
	it.says(cachev1.ReasonAllPodsReady, "2 of 2")
	plaintext := it.get().Status.Endpoint
	old := it.readyPods(onPlaintext)

	it.patch(`{"tls":{"secretName":"server"},"image":"` + c.Cluster.Image("memcached", "missing") + `"}`)
	it.says(cachev1.ReasonPodsNotReady, "cannot be pulled")
	it.Expect(it.get().Status.Endpoint).To(gomega.Equal(plaintext), "nobody listens on the new port")
	it.serves(plaintext, "")

	it.patch(`{"image":null,"rollout":{"minReadySeconds":60}}`)
	it.Eventually(func() int { return len(it.readyPods(onTLS)) }).Should(gomega.BeNumerically(">", 0))
	it.Expect(it.get().Status.Endpoint).To(gomega.Equal(plaintext))
	trusted := " --tls --ca=/secret/ca.crt --server-name=" + name + "." + name + ".svc"
	left := it.readyPods(onPlaintext)
	it.Expect(left).NotTo(gomega.BeEmpty(), "of %v", old)
	it.serves(left[0]+":11211", "")
	it.serves(it.readyPods(onTLS)[0]+":11212", trusted)

	it.patch(`{"rollout":null}`)
	it.says(cachev1.ReasonAllPodsReady, "2 of 2")
	it.Expect(it.get().Status.Endpoint).To(gomega.Equal(name + "." + name + ".svc:11212"))
	it.serves(it.get().Status.Endpoint, trusted)
}

const (
	onPlaintext = "memcached"
	onTLS       = "memcached-tls"
)

// readyPods returns the addresses of the ready Pods that declare this port.
func (it *cache) readyPods(port string) []string {
	it.t.Helper()
	pods := &corev1.PodList{}
	it.Expect(c.Client.List(it.t.Context(), pods,
		client.InNamespace(it.key.Namespace), client.MatchingLabels{"memcached_cr": it.key.Name})).To(gomega.Succeed())
	var addresses []string
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp.IsZero() && podIsReady(&pod) && pod.Spec.Containers[0].Ports[0].Name == port {
			addresses = append(addresses, pod.Status.PodIP)
		}
	}
	return addresses
}

func podIsReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// serves makes a client set and get keys for some seconds, and checks that no request fails.
func (it *cache) serves(endpoint, flags string) {
	it.t.Helper()
	watched, err := it.runsAt([]string{"--endpoint=" + endpoint}, "watch --keys=50 --for=8s"+flags)
	it.Expect(err).NotTo(gomega.HaveOccurred(), "a client of %s", endpoint)
	if watched.Requests == 0 || watched.Failed > 0 {
		it.t.Errorf("%s: %d of %d requests failed: %v", endpoint, watched.Failed, watched.Requests, watched.Failures)
	}
}
