//go:build e2e

package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/example-inc/memcached-operator/internal/testing/certificates"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/pki"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

// These are the Secrets of a namespace. They have the certificate that the Pods serve, the users of memcached, and all
// that the clients need, including the clients that memcached must refuse.
const (
	serverSecret  = "server"
	usersSecret   = "users"
	clientsSecret = "clients"
)

// These are flags of clients. The files that they name are in clientsSecret.
const (
	trusting  = " --tls --ca=/secret/ca.crt"
	certified = " --cert=/secret/client.crt --key=/secret/client.key"
	strangers = " --cert=/secret/foreign.crt --key=/secret/foreign.key"
	login     = " --user=app --password-file=/secret/"
)

// refused matches the errors of a client that memcached refuses by TLS. Which error it is depends on which side closes
// the connection first.
const refused = "tls: (certificate required|unknown certificate authority)|EOF|connection reset|broken pipe"

// longest is how long a client may run.
const longest = 15 * time.Minute

// putSecret creates a Secret, or replaces its data.
func putSecret(t *testing.T, namespace, name string, data map[string][]byte) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	_, err := controllerutil.CreateOrUpdate(t.Context(), c.Client, secret, func() error {
		secret.Data = data
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// putClients makes the Secret of the clients, with a file for each password.
func putClients(t *testing.T, namespace string, ca *pki.Authority, passwords map[string]string) {
	t.Helper()
	own, stranger := certificates.Issue(t, ca), certificates.Issue(t, certificates.NewAuthority(t, "stranger"))
	data := map[string][]byte{
		"ca.crt": ca.Cert, "client.crt": own.Cert, "client.key": own.Key, "foreign.crt": stranger.Cert, "foreign.key": stranger.Key,
	}
	for file, password := range passwords {
		data[file] = []byte(password)
	}
	putSecret(t, namespace, clientsSecret, data)
}

// secured creates a Memcached with one Pod in an existing namespace, and deletes it when the test ends.
func secured(t *testing.T, namespace, name string, spec cachev1.MemcachedSpec) *cache {
	t.Helper()
	spec.Size = new(int32(1))
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: spec}
	if err := c.Client.Create(t.Context(), mc); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Client.Delete(context.WithoutCancel(t.Context()), mc) })
	return &cache{t: t, WithT: newGomega(t), key: client.ObjectKeyFromObject(mc)}
}

// runs starts a client with the Secret of the clients, and waits for its end.
func (it *cache) runs(verb, flags string) (clientpod.Keys, error) {
	mc := &cachev1.Memcached{}
	if err := c.Client.Get(it.t.Context(), it.key, mc); err != nil {
		return clientpod.Keys{}, err
	}
	return it.runsAt(clientpod.Reach(mc), verb+flags)
}

// runsAt does the same as runs, for the servers in reach.
func (it *cache) runsAt(reach []string, command string) (clientpod.Keys, error) {
	config, err := c.Cluster.RESTConfig()
	if err != nil {
		return clientpod.Keys{}, err
	}
	pods := clientpod.Clients{
		Kube: c.Client, Config: config, Namespace: it.key.Namespace, Image: c.images.Client,
		Secret: clientsSecret, Timeout: longest,
	}
	return pods.Run(it.t.Context(), func(string) {}, append(reach, strings.Fields(command)...)...)
}

// lets makes a client store or read keys, and asserts that it succeeds.
func (it *cache) lets(verb, flags string) {
	it.t.Helper()
	keys, err := it.runs(verb+" --keys=50", flags)
	it.Expect(err).NotTo(gomega.HaveOccurred(), "client with%s", flags)
	it.Expect(max(keys.Stored, keys.Found)).To(gomega.Equal(50), "%s with%s: %+v", verb, flags, keys)
}

// refuses makes sure that a client fails to read keys that exist.
func (it *cache) refuses(flags, words string) {
	it.t.Helper()
	_, err := it.runs("get --keys=50", flags)
	it.Expect(err).To(gomega.MatchError(gomega.MatchRegexp(words)), "client with%s", flags)
}

// pod returns the only Pod of the cache.
func (it *cache) pod() *corev1.Pod {
	it.t.Helper()
	pods := &corev1.PodList{}
	it.Expect(c.Client.List(it.t.Context(), pods,
		client.InNamespace(it.key.Namespace), client.MatchingLabels{"memcached_cr": it.key.Name})).To(gomega.Succeed())
	it.Expect(pods.Items).To(gomega.HaveLen(1))
	return &pods.Items[0]
}

// life has the fields of a Pod that change when a container restarts, or when the Pod is not ready for a moment.
type life struct {
	UID        types.UID
	Containers map[string]string
	Restarts   map[string]int32
	Ready      string
}

func lifeOf(pod *corev1.Pod) life {
	it := life{UID: pod.UID, Containers: map[string]string{}, Restarts: map[string]int32{}}
	for _, status := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		it.Containers[status.Name], it.Restarts[status.Name] = status.ContainerID, status.RestartCount
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			it.Ready = fmt.Sprintf("%s since %s", condition.Status, condition.LastTransitionTime)
		}
	}
	return it
}

// metrics returns the agent's metrics, read through the API server, or nothing while it does not answer.
func (it *cache) metrics() metrics {
	it.t.Helper()
	return it.metricsOf(it.pod().Name)
}

// metricsOf returns the metrics of one Pod.
func (it *cache) metricsOf(pod string) metrics {
	it.t.Helper()
	config, err := c.Cluster.RESTConfig()
	it.Expect(err).NotTo(gomega.HaveOccurred())
	set, err := kubernetes.NewForConfig(config)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	body, _ := set.CoreV1().Pods(it.key.Namespace).ProxyGet("http", pod, "9150", "metrics", nil).DoRaw(it.t.Context())
	return metrics(body)
}

type metrics string

// value returns the value of a series, or -1 if it does not exist.
func (m metrics) value(series string) float64 {
	for line := range strings.Lines(string(m)) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			if value, err := strconv.ParseFloat(strings.TrimSpace(rest), 64); err == nil {
				return value
			}
		}
	}
	return -1
}

// showsNothingOf asserts that none of the secrets is in the objects, logs and metrics that others may read in the
// cache's namespace.
func (it *cache) showsNothingOf(secrets ...string) {
	it.t.Helper()
	text := it.kubectl("get", "memcached,deployment,replicaset,pod,service,networkpolicy,event,configmap", "-o", "yaml") +
		it.kubectl("logs", it.pod().Name, "--all-containers")
	it.Expect(text).To(gomega.ContainSubstring("Starting the memcached agent"), "the logs were read")
	for _, secret := range secrets {
		lines := strings.Split(strings.TrimSpace(secret), "\n")
		middle := lines[len(lines)/2] // the middle line of a private key
		for _, form := range []string{middle, base64.StdEncoding.EncodeToString([]byte(secret))} {
			if strings.Contains(text, form) {
				it.t.Errorf("%s... is readable", form[:4])
			}
		}
	}
}

func (it *cache) kubectl(arguments ...string) string {
	it.t.Helper()
	out, err := c.kubectl(it.t.Context(), it.key.Namespace, arguments...).CombinedOutput()
	it.Expect(err).NotTo(gomega.HaveOccurred(), "%s", out)
	return string(out)
}

func (s *site) kubectl(ctx context.Context, namespace string, arguments ...string) *exec.Cmd {
	arguments = append([]string{"--kubeconfig", s.Cluster.Kubeconfig, "--namespace", namespace}, arguments...)
	return exec.CommandContext(ctx, s.Cluster.Kubectl, arguments...)
}
