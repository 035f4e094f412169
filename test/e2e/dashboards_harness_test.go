//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/proc"
	"github.com/example-inc/memcached-operator/internal/testing/prometheus"
	"github.com/example-inc/memcached-operator/test/faults/clients"
)

// scraped runs a Prometheus on a Node, with the configuration of docs/monitoring.md, and with files of rules.
// Prometheus scrapes the operator, and the Pods that exist in the cache's namespace at the time of the scrape.
func (it *cache) scraped(rules ...string) prometheus.Server {
	it.t.Helper()
	kubelet, ctx, dir := c.pid(it.t, "kubelet"), it.t.Context(), it.t.TempDir()
	free, targets := it.listens(kubelet), it.listens(kubelet)
	server := prometheus.Server{
		Address: free.Addr().String(), Dial: clients.InNetworkOf(func() (int, error) { return kubelet, nil }),
	}
	go func() { _ = http.Serve(targets, it.targets(ctx)) }()
	it.t.Cleanup(func() { _ = targets.Close() })
	token := filepath.Join(dir, "token")
	it.Expect(os.WriteFile(token, it.scraperToken(), 0o600)).To(gomega.Succeed())
	command, err := server.Command(ctx, dir, it.scrapeConfig(token, targets.Addr().String(), rules))
	it.Expect(err).NotTo(gomega.HaveOccurred())
	it.Expect(free.Close()).To(gomega.Succeed())
	it.Expect(proc.InNetworkOf(kubelet, command.Start)).To(gomega.Succeed())
	it.t.Cleanup(func() {
		_ = command.Wait() // It fails, because the end of the test kills the process.
		if it.t.Failed() {
			log, _ := os.ReadFile(filepath.Join(dir, "prometheus.log"))
			it.t.Logf("%s", log)
		}
	})
	it.Expect(server.AwaitReady(ctx)).To(gomega.Succeed())
	return server
}

// listens opens a port on a Node.
func (it *cache) listens(kubelet int) (listener net.Listener) {
	it.t.Helper()
	it.Expect(proc.InNetworkOf(kubelet, func() (err error) {
		listener, err = net.Listen("tcp4", "127.0.0.1:0")
		return err
	})).To(gomega.Succeed())
	return listener
}

// scraperToken is a token of the service account that the monitoring manifests contain for Prometheus.
func (it *cache) scraperToken() (token []byte) {
	it.t.Helper()
	scraper := func(ctx context.Context, arguments ...string) {
		arguments = append(arguments, "--filename", filepath.Join(c.Root, "operator/config/monitoring/scraper.yaml"))
		out, err := c.kubectl(ctx, operatorNamespace, arguments...).CombinedOutput()
		it.Expect(err).NotTo(gomega.HaveOccurred(), "%s", out)
	}
	scraper(it.t.Context(), "apply")
	// The Secret may already have been deleted together with its service account.
	it.t.Cleanup(func() { scraper(context.WithoutCancel(it.t.Context()), "delete", "--ignore-not-found") })
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: operatorNamespace, Name: "memcached-operator-scraper"}
	it.Eventually(func() []byte {
		_ = c.Client.Get(it.t.Context(), key, secret)
		return secret.Data[corev1.ServiceAccountTokenKey]
	}).ShouldNot(gomega.BeEmpty())
	return secret.Data[corev1.ServiceAccountTokenKey]
}

var configOfDocs = regexp.MustCompile("(?s)```yaml\nrule_files:.*?\n(scrape_configs:.*?)```")

// scrapeConfig returns the scrape configuration in docs/monitoring.md with another source of targets, because Debian's
// Prometheus is built without Kubernetes service discovery.
func (it *cache) scrapeConfig(token, targets string, rules []string) string {
	it.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.Root, "docs/monitoring.md"))
	it.Expect(err).NotTo(gomega.HaveOccurred())
	found := configOfDocs.FindSubmatch(text)
	it.Expect(found).To(gomega.HaveLen(2), "the page has a configuration")
	config := map[string]any{}
	it.Expect(yaml.Unmarshal(found[1], &config)).To(gomega.Succeed())
	config["global"] = map[string]any{"scrape_interval": "2s", "scrape_timeout": "2s", "evaluation_interval": "1s"}
	if len(rules) > 0 {
		config["rule_files"] = rules
	}
	for _, entry := range config["scrape_configs"].([]any) {
		job := entry.(map[string]any)
		delete(job, "kubernetes_sd_configs")
		job["http_sd_configs"] = []any{map[string]any{
			"url": fmt.Sprintf("http://%s/%s", targets, job["job_name"]), "refresh_interval": "1s",
		}}
		if authorization, ok := job["authorization"].(map[string]any); ok {
			authorization["credentials_file"] = token
		}
	}
	changed, err := yaml.Marshal(config)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	return string(changed)
}

// targets returns a handler that serves the list of targets: the ports of the cache's Pods, and the ports of the
// operator's Service. They have the labels that Prometheus' Kubernetes service discovery gives to targets.
func (it *cache) targets(ctx context.Context) http.Handler {
	type group struct {
		Targets []string          `json:"targets"`
		Labels  map[string]string `json:"labels"`
	}
	list := func(into http.ResponseWriter, namespace string, labelsOf func(corev1.Pod, corev1.ContainerPort) map[string]string) {
		pods, groups := &corev1.PodList{}, []group{}
		if err := c.Client.List(ctx, pods, client.InNamespace(namespace)); err != nil {
			http.Error(into, err.Error(), http.StatusInternalServerError)
			return
		}
		for _, pod := range pods.Items {
			for _, container := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
				for _, port := range container.Ports {
					address := net.JoinHostPort(pod.Status.PodIP, fmt.Sprint(port.ContainerPort))
					groups = append(groups, group{[]string{address}, labelsOf(pod, port)})
				}
			}
		}
		into.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(into).Encode(groups)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/memcached", func(into http.ResponseWriter, _ *http.Request) {
		list(into, it.key.Namespace, func(pod corev1.Pod, port corev1.ContainerPort) map[string]string {
			labels := map[string]string{
				"__meta_kubernetes_pod_container_port_name": port.Name, "__meta_kubernetes_pod_phase": string(pod.Status.Phase),
				"__meta_kubernetes_namespace": pod.Namespace, "__meta_kubernetes_pod_name": pod.Name,
			}
			for name, value := range pod.Labels {
				name = strings.NewReplacer(".", "_", "/", "_", "-", "_").Replace(name)
				labels["__meta_kubernetes_pod_label_"+name] = value
				labels["__meta_kubernetes_pod_labelpresent_"+name] = "true"
			}
			return labels
		})
	})
	mux.HandleFunc("/memcached-operator", func(into http.ResponseWriter, _ *http.Request) {
		list(into, operatorNamespace, func(_ corev1.Pod, port corev1.ContainerPort) map[string]string {
			endpointPort := map[string]string{"metrics": "https"}[port.Name] // as the Service names it
			return map[string]string{
				"__meta_kubernetes_service_name":       "memcached-operator-controller-manager-metrics-service",
				"__meta_kubernetes_endpoint_port_name": endpointPort,
			}
		})
	})
	return mux
}
