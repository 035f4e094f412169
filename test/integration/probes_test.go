package integration

import (
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/internal/testing/unused"
)

// probe sends the request of a probe to an operator, as the kubelet does. It returns 0 while the operator does not
// answer.
func (w *world) probe(address, path string) (code int, body string) {
	request, err := http.NewRequestWithContext(w.ctx, http.MethodGet, "http://"+address+path, nil)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	return response.StatusCode, string(content)
}

func (w *world) becomesReady(address string) {
	w.t.Helper()
	w.Eventually(func() int { code, _ := w.probe(address, "/readyz"); return code }).Should(gomega.Equal(http.StatusOK))
	code, _ := w.probe(address, "/healthz")
	w.Expect(code).To(gomega.Equal(http.StatusOK))
}

func TestAnOperatorIsNotReadyBeforeItsCachesAreFilled(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, operatorKubeconfig)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-without-rights-"}}
	w.Expect(cluster.Create(w.ctx, namespace)).To(gomega.Succeed())
	address := unused.Address(t)
	start := func() {
		w.startWith(nil, "--watch-namespaces="+namespace.Name, "--health-probe-bind-address="+address)
		w.Eventually(func() int { code, _ := w.probe(address, "/healthz"); return code }).Should(gomega.Equal(http.StatusOK))
	}
	start()
	w.stop() // It must end after a signal, even while it waits.
	start()
	w.Consistently(func() int { code, _ := w.probe(address, "/readyz"); return code }).Should(gomega.Equal(http.StatusInternalServerError))
	_, body := w.probe(address, "/readyz/caches")
	w.Expect(body).To(gomega.ContainSubstring("not synced yet: Memcached, Pod"))

	w.bindRole(namespace.Name)
	w.becomesReady(address)
	log, err := os.ReadFile(w.log)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	for _, line := range []string{"A check fails", "not synced yet: Memcached, Pod", "The check succeeds again"} {
		w.Expect(string(log)).To(gomega.ContainSubstring(line), "nothing else reports why the Pod is not Ready")
	}
}
