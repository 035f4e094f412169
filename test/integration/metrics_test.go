package integration

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMetricsAreForThoseWhoMayReadThem(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	w := emptyWorld(t, clusterKubeconfig)
	w.startWith(nil, "--watch-namespaces="+w.namespace, "--metrics-bind-address="+address)

	stranger, reader := token(w, "stranger"), token(w, "reader")
	w.Expect(cluster.Create(w.ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-metrics-reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "memcached-operator-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: w.namespace, Name: "reader"}},
	})).To(gomega.Succeed())

	// The certificate is the operator's own, made at its start.
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
	address := freeAddress(t)
	w := emptyWorld(t, operatorKubeconfig)
	w.startWith(nil, "--watch-namespaces="+w.namespace, "--metrics-bind-address="+address)
	w.memcached("cache", 1)
	w.ready("cache")
	log, err := os.ReadFile(w.log)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Expect(string(log)).To(gomega.ContainSubstring("Metrics are off: the operator may not ask the API server who reads them"))
	_, err = net.Dial("tcp", address)
	w.Expect(err).To(gomega.HaveOccurred())
}

// token makes a service account and returns a token of its.
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

// freeAddress returns an address on this machine that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return fmt.Sprint(listener.Addr())
}
