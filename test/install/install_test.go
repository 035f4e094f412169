//go:build e2e

// Package install proves that a release can be installed. It makes a release for all platforms, pushes it to the
// registry of a new cluster, applies its manifest, and uses a cache.
package install

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/internal/testing/release"
	"github.com/example-inc/memcached-operator/internal/testing/site"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

func TestAReleaseIsMadePushedInstalledAndServes(t *testing.T) {
	cluster := site.Cluster(t, local.Options{Name: "e2e-release", Needs: preflight.Memcached()})
	memcached := pushMemcached(t, cluster)
	tree := t.TempDir()
	release.Repository(t, tree)
	variables := []string{
		"VERSION=" + release.Version, "REGISTRY=" + cluster.Registry + "/team", "OUT=dist", "MEMCACHED_IMAGE=" + memcached,
	}
	makes := func(target string) {
		t.Helper()
		release.Run(t, tree, nil, "make", append([]string{target}, variables...)...)
	}
	makes("release")
	first := page.Read(t, filepath.Join(tree, "dist/SHA256SUMS"))
	started := time.Now()
	makes("release")
	t.Logf("make release took %s", time.Since(started).Round(time.Second)) // The second run finds everything built.
	if second := page.Read(t, filepath.Join(tree, "dist/SHA256SUMS")); first != second {
		t.Errorf("the second release differs from the first:\n%s\n%s", first, second)
	}
	release.Run(t, filepath.Join(tree, "dist"), nil, "sha256sum", "--strict", "-c", "SHA256SUMS")
	makes("release-push")
	makes("release-push") // It must be possible to push a release twice.

	manifest := filepath.Join(tree, "dist", "install-"+oci.Host().Architecture+".yaml")
	started = time.Now()
	kubectl := func(args ...string) string {
		t.Helper()
		return release.Run(t, tree, nil, cluster.Kubectl, append([]string{"--kubeconfig", cluster.Kubeconfig}, args...)...)
	}
	kubectl("apply", "-f", manifest)
	assertServes(t, cluster, started)

	kubectl("delete", "-f", manifest, "-l", "app.kubernetes.io/component!=crd") // as in docs/install.md
	left := kubectl("get", "memcacheds,deployments", "--all-namespaces", "-o", "name")
	if !strings.Contains(left, "memcached.cache.example.com/cache\n") || strings.Contains(left, "controller-manager") {
		t.Errorf("after the operator is uninstalled, the cluster has:\n%s", left)
	}
}

func pushMemcached(t *testing.T, cluster *local.Cluster) (reference string) {
	t.Helper()
	image, version, err := oci.Memcached(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	byTag := cluster.Image("memcached", version)
	pushed, err := oci.Push(t.Context(), image, byTag)
	if err != nil {
		t.Fatal(err)
	}
	_, digest, _ := strings.Cut(pushed, "@")
	return byTag + "@" + digest
}

// assertServes creates a cache, stores keys in it and reads them.
func assertServes(t *testing.T, cluster *local.Cluster, started time.Time) {
	t.Helper()
	config, err := cluster.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	if err := cachev1.AddToScheme(scheme.Scheme); err != nil {
		t.Fatal(err)
	}
	log.SetLogger(logr.Discard()) // Otherwise the client would log a complaint.
	kube, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	g := gomega.NewWithT(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}
	g.Expect(kube.Create(t.Context(), namespace)).To(gomega.Succeed())
	mc := &cachev1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: namespace.Name}, Spec: cachev1.MemcachedSpec{Size: new(int32(1))},
	}
	g.Eventually(func() error { return kube.Create(t.Context(), mc) }, "1m", "100ms").Should(gomega.Succeed())
	g.Eventually(func() int32 {
		g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(mc), mc)).To(gomega.Succeed())
		return mc.Status.ReadyReplicas
	}, "3m", "200ms").Should(gomega.Equal(int32(1)))
	t.Logf("a cache was ready %s after kubectl apply", time.Since(started).Round(time.Second))
	program, err := oci.Program{Dir: release.Root(t), Package: "./test/client"}.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	image, err := oci.Push(t.Context(), program, cluster.Image("client", "dev"))
	if err != nil {
		t.Fatal(err)
	}
	pods := clientpod.Clients{Kube: kube, Config: config, Namespace: namespace.Name, Image: image}
	const keys = 100
	for _, verb := range []string{"set", "get"} {
		result, err := pods.Run(t.Context(), func(string) {}, append(clientpod.Reach(mc), verb, "--keys=100")...)
		if err != nil {
			t.Fatal(err)
		}
		if verb == "get" && result.Found != keys {
			t.Errorf("a client found %d of %d keys", result.Found, keys)
		}
	}
}
