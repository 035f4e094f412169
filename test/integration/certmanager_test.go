//go:build certmanager

package integration

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/certificates"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/docs"
)

// TestCertManagerItselfIssuesTheCertificateOfACache runs cert-manager's own controllers. It is in no make target,
// because building them takes minutes:
//
//	make go-tests ARGS='-tags certmanager -run TestCertManagerItself'
func TestCertManagerItselfIssuesTheCertificateOfACache(t *testing.T) {
	w := newSlotWorld(t)
	w.runsCertManager()
	ca := w.certificateAuthority("ca")
	w.withIssuer("cache", func(s *cachev1.MemcachedSpec) {
		s.Size, s.Slots, s.Discovery = new(int32(2)), &cachev1.Slots{Mode: cachev1.SlotsClusterIP}, &cachev1.Discovery{}
	})
	mc := w.served("cache")
	first := w.issued("cache", ca)
	if diff := cmp.Diff(w.hosts("cache"), first.DNSNames); diff != "" {
		t.Errorf("names (-requested +issued):\n%s", diff)
	}
	w.isComplete(mc)

	w.patchSpec(`{"size":3}`)
	w.served("cache")
	w.Eventually(func() []string { return w.issued("cache", ca).DNSNames }).Should(gomega.ContainElement(
		"cache-2." + w.namespace + ".svc"))
	w.isComplete(mc)

	pods, second := w.uids("cache"), w.issued("cache", ca)
	w.patchStatus(get(w.world, "cache", newCertificate()), // as `cmctl renew cache` does
		`{"conditions":[{"type":"Issuing","status":"True","reason":"ManuallyTriggered","message":"renewed by hand"}]}`)
	w.Eventually(func() string { return w.issued("cache", ca).SerialNumber.String() }).
		ShouldNot(gomega.Equal(second.SerialNumber.String()))
	w.served("cache")
	w.Expect(w.uids("cache")).To(gomega.Equal(pods), "a renewed certificate replaces no Pod")
	before := len(w.quiet())
	w.Expect(w.quiet()[before:]).To(gomega.BeEmpty(), "requests at rest")
}

// runsCertManager runs cert-manager's controllers until the test ends.
func (w *world) runsCertManager() {
	w.t.Helper()
	files, err := docs.CertManagerCRDs(w.ctx, repository)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = envtest.InstallCRDs(config, envtest.CRDInstallOptions{Paths: []string{filepath.Dir(files[0])}})
	w.Expect(err).NotTo(gomega.HaveOccurred())
	dir := w.t.TempDir()
	w.buildsCertManager(dir, filepath.Join(filepath.Dir(files[0]), "../.."))
	log, err := os.Create(filepath.Join(dir, "certmanager.log"))
	w.Expect(err).NotTo(gomega.HaveOccurred())
	controllers := exec.CommandContext(w.ctx, filepath.Join(dir, "certmanager"), "--kubeconfig="+controllersKubeconfig)
	controllers.Stdout, controllers.Stderr = log, log
	controllers.Cancel = func() error { return controllers.Process.Signal(syscall.SIGTERM) }
	w.Expect(controllers.Start()).To(gomega.Succeed())
	w.t.Cleanup(func() {
		_ = controllers.Wait() // The context of the test has ended.
		if said, err := os.ReadFile(log.Name()); w.t.Failed() && err == nil {
			w.t.Logf("cert-manager:\n%s", said[max(0, len(said)-4000):])
		}
	})
}

// buildsCertManager compiles the program in testdata, with the versions in cert-manager's go.mod.
func (w *world) buildsCertManager(dir, module string) {
	w.t.Helper()
	for to, from := range map[string][]string{
		"main.go": {"testdata/certmanager/main.go"}, "go.mod": {module + "/go.mod"},
		"go.sum": {module + "/go.sum", repository + "/test/docs/crds/go.sum"},
	} {
		var content []byte
		for _, file := range from {
			part, err := os.ReadFile(file)
			w.Expect(err).NotTo(gomega.HaveOccurred())
			content = append(content, part...)
		}
		w.Expect(os.WriteFile(filepath.Join(dir, to), content, 0o600)).To(gomega.Succeed())
	}
	for _, arguments := range [][]string{
		{"mod", "edit", "-module=certmanager", "-require=github.com/cert-manager/" + filepath.Base(module)},
		{"build", "-mod=mod", "-o", "certmanager", "."},
	} {
		command := exec.CommandContext(w.ctx, "go", arguments...)
		command.Dir = dir
		out, err := command.CombinedOutput()
		w.Expect(err).NotTo(gomega.HaveOccurred(), "%s", out)
	}
}

// certificateAuthority creates an Issuer, and returns its CA.
func (w *world) certificateAuthority(name string) *x509.CertPool {
	w.t.Helper()
	pair := certificates.NewAuthority(w.t, name).Pair
	w.secret(name, map[string]string{"tls.crt": string(pair.Cert), "tls.key": string(pair.Key)})
	issuer := &unstructured.Unstructured{}
	w.Expect(yaml.Unmarshal([]byte(`
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: `+name+`, namespace: `+w.namespace+`}
spec: {ca: {secretName: `+name+`}}
`), &issuer.Object)).To(gomega.Succeed())
	w.Expect(cluster.Create(w.ctx, issuer)).To(gomega.Succeed())
	pool := x509.NewCertPool()
	w.Expect(pool.AppendCertsFromPEM(pair.Cert)).To(gomega.BeTrue())
	return pool
}

// issued returns the certificate in a cache's Secret, and checks that this CA has issued it.
func (w *world) issued(name string, ca *x509.CertPool) *x509.Certificate {
	w.t.Helper()
	block, _ := pem.Decode(get(w, name+"-tls", &corev1.Secret{}).Data["tls.crt"])
	w.Expect(block).NotTo(gomega.BeNil())
	certificate, err := x509.ParseCertificate(block.Bytes)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = certificate.Verify(x509.VerifyOptions{Roots: ca})
	w.Expect(err).NotTo(gomega.HaveOccurred())
	return certificate
}
