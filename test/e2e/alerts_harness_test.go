//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/internal/testing/prometheus"
	"github.com/example-inc/memcached-operator/test/faults/clients"
)

// allowsNoServices makes the API server refuse new Services in the namespace, by a ResourceQuota.
func (it *cache) allowsNoServices() {
	it.t.Helper()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: it.key.Namespace, Name: "none"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/services": resource.MustParse("0")}},
	}
	c.create(it.t, quota)
	it.Eventually(func() corev1.ResourceList {
		_ = c.Client.Get(it.t.Context(), client.ObjectKeyFromObject(quota), quota)
		return quota.Status.Hard
	}).ShouldNot(gomega.BeEmpty())
}

// hurriedRules writes a file with the alert rules of the installation, with shorter periods: see hurry.
func hurriedRules(t *testing.T) string {
	t.Helper()
	rules := page.Read(t, filepath.Join(c.Root, "operator/config/monitoring/rules.yaml"))
	hurried, err := prometheus.Hurried([]byte(rules), hurry)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, hurried, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// fired returns the alerts that have fired until now, each with the value of the label of, which says what the alert is
// about.
func (it *cache) fired(server prometheus.Server, labels string, of model.LabelName) []string {
	it.t.Helper()
	alerts := []string{}
	for _, series := range it.query(server, `count_over_time(ALERTS{alertstate="firing", `+labels+`}[1h])`) {
		alert := string(series.Metric["alertname"])
		if about := series.Metric[of]; about != "" {
			alert += " " + string(about)
		}
		alerts = append(alerts, alert)
	}
	slices.Sort(alerts)
	return slices.Compact(alerts)
}

// stops stops the process of memcached, so that it does not answer. The kernel still accepts connections.
func (it *cache) stops() {
	it.t.Helper()
	pid := processOf(it.t, it.pod(), "memcached")
	it.Expect(syscall.Kill(pid, syscall.SIGSTOP)).To(gomega.Succeed())
	it.t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
}

// keepsFilling stores 2 MiB a second until the test ends, so that the memory of the Pod is soon full.
func (it *cache) keepsFilling() {
	it.t.Helper()
	connection, number, value := it.opens(1)[0], 0, strings.Repeat("v", 1<<10)
	discards(connection) // A memcached that evicts nothing answers with errors.
	it.repeats(time.Second/10, func(context.Context) {
		writer := bufio.NewWriter(connection)
		for range 200 {
			number++
			fmt.Fprintf(writer, "set key%d 0 0 %d\r\n%s\r\n", number, len(value), value)
		}
		_ = writer.Flush()
	})
}

// repeats calls do again and again, with pauses, until the test ends.
func (it *cache) repeats(pause time.Duration, do func(context.Context)) {
	ctx, cancel := context.WithCancel(it.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			do(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}()
	it.t.Cleanup(func() { cancel(); <-ended })
}

// opens opens connections to the Pod. They are closed when the test ends.
func (it *cache) opens(connections int) []net.Conn {
	it.t.Helper()
	kubelet, address := c.pid(it.t, "kubelet"), net.JoinHostPort(it.pod().Status.PodIP, "11211")
	dial := clients.InNetworkOf(func() (int, error) { return kubelet, nil })
	opened := make([]net.Conn, connections)
	for i := range opened {
		connection, err := dial(it.t.Context(), "tcp", address)
		it.Expect(err).NotTo(gomega.HaveOccurred())
		it.t.Cleanup(func() { _ = connection.Close() })
		opened[i] = connection
	}
	return opened
}

// discards reads what a connection answers, until it is closed.
func discards(connection net.Conn) {
	go func() { _, _ = io.Copy(io.Discard, connection) }()
}

// reads stores a key, and reads it 40 times a second until the test ends. The test can store another key in the
// returned value; then that key is read.
func (it *cache) reads(first string) *atomic.Value {
	it.t.Helper()
	key, connection := &atomic.Value{}, it.opens(1)[0]
	key.Store(first)
	_, err := fmt.Fprintf(connection, "set %s 0 0 1\r\nx\r\n", first)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	discards(connection)
	it.repeats(time.Second/40, func(context.Context) { _, _ = fmt.Fprintf(connection, "get %s\r\n", key.Load()) })
	return key
}
