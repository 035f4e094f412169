//go:build e2e

package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/soak"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestReleasesOfChartsMoveInByWhatImportPrints runs, for each of two Helm charts, a StatefulSet with the names and
// arguments that the chart renders from some values. The memcached of HelmForge's chart refuses to dump its keys, unless the values
// allow it.
func TestReleasesOfChartsMoveInByWhatImportPrints(t *testing.T) {
	soak.Only(t, "TestACacheIsFilledFromAnotherServer, and golden files of what import prints")
	c.shared(t)
	for name, tc := range map[string]struct {
		chart, values, reason string
		arguments             []string
	}{
		"bitnami":   {"bitnami", "{architecture: high-availability, replicaCount: 2}", cachev1.ReasonBootstrapFollowing, nil},
		"helmforge": {"helmforge", "{architecture: ha, replicaCount: 2, memcached: {disableDumping: false}}", cachev1.ReasonBootstrapFollowing, nil},
		"refuses":   {"helmforge", "{architecture: ha, replicaCount: 2}", cachev1.ReasonBootstrapFailed, []string{"-X"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := "from-" + name
			it := &cache{t: t, WithT: newGomega(t), key: client.ObjectKey{Namespace: namespace, Name: "sessions"}}
			c.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
			mc := it.imports(tc.chart, tc.values)
			for _, pod := range it.runsRelease(mc.Spec.Bootstrap.From.Servers[0], tc.arguments) {
				it.stores(&pod, filledWith)
			}
			it.Expect(c.Client.Create(t.Context(), mc)).To(gomega.Succeed())
			it.isBootstrapped(tc.reason)
			if tc.reason == cachev1.ReasonBootstrapFollowing {
				it.holds(filledWith) // Both Pods had the same keys.
				return
			}
			failed := meta.FindStatusCondition(it.get().Status.Conditions, cachev1.ConditionBootstrapped)
			it.Expect(failed.Message).To(gomega.ContainSubstring("DumpForbidden"))
		})
	}
}

// imports returns the Memcached that the plugin prints for the values of a release named sessions.
func (it *cache) imports(chart, values string) *cachev1.Memcached {
	it.t.Helper()
	file := filepath.Join(it.t.TempDir(), "values.yaml")
	it.Expect(os.WriteFile(file, []byte(values), 0o600)).To(gomega.Succeed())
	command := exec.CommandContext(it.t.Context(), "go", "run", "./operator/cmd/kubectl-memcached", "import", file, "--chart", chart,
		"--release", it.key.Name, "--release-namespace", it.key.Namespace, "--client-hash", string(cachev1.HashRendezvous))
	command.Dir, command.Stderr = c.Root, os.Stderr
	out, err := command.Output()
	it.Expect(err).NotTo(gomega.HaveOccurred())
	mc := &cachev1.Memcached{}
	it.Expect(yaml.UnmarshalStrict(out, mc)).To(gomega.Succeed())
	mc.Spec.Image, mc.Spec.Resources = newMemcached(it.t), little()
	return mc
}

// runsRelease runs a StatefulSet with two Pods, and its headless Service. The first Pod gets the DNS name in server.
func (it *cache) runsRelease(server string, arguments []string) []corev1.Pod {
	it.t.Helper()
	host, _, err := net.SplitHostPort(server)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	labels := strings.Split(host, ".")
	name, service := strings.TrimSuffix(labels[0], "-0"), labels[1]
	own := map[string]string{"app.kubernetes.io/instance": it.key.Name}
	c.create(it.t, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: it.key.Namespace, Name: service},
		Spec: corev1.ServiceSpec{
			Selector: own, ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Name: "memcached", Port: 11211}},
		},
	})
	c.create(it.t, &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: it.key.Namespace, Name: name},
		Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(2)), ServiceName: service, Selector: &metav1.LabelSelector{MatchLabels: own},
			PodManagementPolicy: appsv1.ParallelPodManagement,
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: own}, Spec: corev1.PodSpec{
				Containers: []corev1.Container{{
					Name: "memcached", Image: newMemcached(it.t), ImagePullPolicy: corev1.PullIfNotPresent, Args: arguments,
					ReadinessProbe: listens(),
				}},
			}},
		},
	})
	pods := &corev1.PodList{}
	it.Eventually(func() (ready int) {
		it.Expect(c.Client.List(it.t.Context(), pods, client.InNamespace(it.key.Namespace), client.MatchingLabels(own))).To(gomega.Succeed())
		for _, pod := range pods.Items {
			if podIsReady(&pod) {
				ready++
			}
		}
		return ready
	}).Should(gomega.Equal(2))
	return pods.Items
}
