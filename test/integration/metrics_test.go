package integration

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"

	"github.com/example-inc/memcached-operator/internal/testing/unused"
)

func TestMetricsAreForThoseWhoMayReadThem(t *testing.T) {
	t.Parallel()
	address := unused.Address(t)
	w := emptyWorld(t, clusterKubeconfig)
	w.startWith(nil, "--watch-namespaces="+w.namespace, "--metrics-bind-address="+address)

	stranger, reader := token(w, "stranger"), token(w, "reader")
	w.Expect(cluster.Create(w.ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-metrics-reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "memcached-operator-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: w.namespace, Name: "reader"}},
	})).To(gomega.Succeed())

	// The certificate is self-signed: the operator creates it at its start.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	scrape := func(scheme, token string) int {
		request, err := http.NewRequestWithContext(w.ctx, http.MethodGet, scheme+"://"+address+"/metrics", nil)
		w.Expect(err).NotTo(gomega.HaveOccurred())
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := client.Do(request)
		if err != nil {
			return 0
		}
		defer response.Body.Close()
		return response.StatusCode
	}
	w.Eventually(func() int { return scrape("https", reader) }).Should(gomega.Equal(http.StatusOK))
	w.Expect(scrape("https", "")).To(gomega.Equal(http.StatusUnauthorized))
	w.Expect(scrape("https", "not-a-token")).NotTo(gomega.Equal(http.StatusOK))
	w.Expect(scrape("https", stranger)).To(gomega.Equal(http.StatusForbidden))
	w.Expect(scrape("http", reader)).To(gomega.Equal(http.StatusBadRequest), "there is no plain HTTP")
}

func TestAnOperatorConfinedToItsNamespaceServesNoMetricsAndSaysWhy(t *testing.T) {
	t.Parallel()
	address := unused.Address(t)
	w := emptyWorld(t, operatorKubeconfig)
	w.startWith(nil, "--watch-namespaces="+w.namespace, "--metrics-bind-address="+address)
	w.memcached("cache", 1)
	w.ready("cache")
	log, err := os.ReadFile(w.log)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Expect(string(log)).To(gomega.ContainSubstring("Metrics are off: the operator has no right to authenticate their readers"))
	_, err = net.Dial("tcp", address)
	w.Expect(err).To(gomega.HaveOccurred())
}

func TestTheOperatorCountsWhatItDoes(t *testing.T) {
	t.Parallel()
	address := unused.Address(t)
	w := emptyWorld(t, operatorKubeconfig)
	w.startWith(nil, "--watch-namespaces="+w.namespace, "--metrics-bind-address="+address, "--metrics-insecure")
	w.memcached("cache", 1)
	w.ready("cache")
	w.memcached("other", 0)
	w.reason("other", cachev1.ReasonScaledToZero)
	w.Eventually(func() map[string]float64 { return readMetrics(w, address) }).Should(gomega.And(
		gomega.HaveKeyWithValue(`memcached_operator_memcacheds{reason="AllPodsReady"}`, 1.0),
		gomega.HaveKeyWithValue(`memcached_operator_memcacheds{reason="ScaledToZero"}`, 1.0),
		gomega.HaveKeyWithValue(`memcached_operator_reconciles_total{reason="AllPodsReady",result="done"}`, gomega.BeNumerically(">", 0)),
		gomega.HaveKeyWithValue(`memcached_operator_writes_total{kind="Deployment",result="created"}`, 2.0),
		gomega.HaveKeyWithValue(`memcached_operator_writes_total{kind="Memcached",result="updated"}`, gomega.BeNumerically(">=", 4)),
		gomega.HaveKeyWithValue(`memcached_operator_drift_corrected_total{kind="Deployment"}`, 0.0),
		gomega.HaveKeyWithValue(`memcached_operator_ready_seconds_count{}`, 2.0),
	))

	w.changedBy("kubectl", &appsv1.Deployment{}, ofImage(otherImage))
	w.Eventually(func() map[string]float64 { return readMetrics(w, address) }).Should(
		gomega.HaveKeyWithValue(`memcached_operator_drift_corrected_total{kind="Deployment"}`, 1.0))

	requests, series := len(w.quiet()), len(readMetrics(w, address))
	for i := range 3 {
		w.memcached(fmt.Sprintf("more%d", i), 0)
		w.reason(fmt.Sprintf("more%d", i), cachev1.ReasonScaledToZero)
	}
	w.Expect(readMetrics(w, address)).To(gomega.HaveLen(series), "three more caches make no series")
	asked := len(w.quiet())
	w.Expect(asked).To(gomega.BeNumerically(">", requests))
	readMetrics(w, address)
	w.Expect(w.quiet()).To(gomega.HaveLen(asked), "a scrape asks the API server for nothing")
}

// readMetrics returns the operator's own metrics by name and labels; for a histogram it returns the count. It returns
// none before the operator serves them.
func readMetrics(w *world, address string) map[string]float64 {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	values := map[string]float64{}
	for name, family := range families {
		if !strings.HasPrefix(name, "memcached_operator_") {
			continue
		}
		for _, metric := range family.Metric {
			var labels []string
			for _, label := range metric.Label {
				labels = append(labels, fmt.Sprintf("%s=%q", label.GetName(), label.GetValue()))
			}
			suffix := ""
			if metric.Histogram != nil {
				suffix = "_count"
			}
			values[name+suffix+"{"+strings.Join(labels, ",")+"}"] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue() +
				float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return values
}

// token creates a service account, and returns a token for it.
func token(w *world, name string) string {
	w.t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
	w.Expect(cluster.Create(w.ctx, account)).To(gomega.Succeed())
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(time.Hour.Seconds()))},
	}
	w.Expect(cluster.SubResource("token").Create(w.ctx, account, request)).To(gomega.Succeed())
	return request.Status.Token
}
