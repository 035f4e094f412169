//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

const (
	killedNamespace = "killed"
	killedSize      = int32(2)

	// mostWrites is far more than a new Memcached costs.
	mostWrites = 30
)

// TestAnOperatorKilledAfterAnyWriteLeavesNothingHalfDone kills the operator after its first write, its second and
// so on, before it learns that the write succeeded, until it gets through without being killed.
func TestAnOperatorKilledAfterAnyWriteLeavesNothingHalfDone(t *testing.T) {
	c.exclusive(t)
	g := newGomega(t)
	c.stopOperator(t)
	err := c.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: killedNamespace}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	binary := filepath.Join(t.TempDir(), "manager")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./operator/cmd/manager")
	build.Dir = c.Root
	out, err := build.CombinedOutput()
	g.Expect(err).NotTo(gomega.HaveOccurred(), "%s", out)

	for n := 1; n <= mostWrites; n++ {
		killed := false
		t.Run(fmt.Sprintf("killed after write %d", n), func(t *testing.T) {
			killed = killAfter(t, binary, n)
		})
		if t.Failed() {
			return
		}
		if !killed {
			t.Logf("a new Memcached costs %d writes", n-1)
			if n <= 4 {
				t.Error("the operator was not killed once for each child and the status")
			}
			return
		}
	}
	t.Errorf("the operator still writes after %d writes", mostWrites)
}

// killAfter lets the operator make a cache and kills it after its n-th write, if it comes to that; then another
// operator finishes the work.
func killAfter(t *testing.T, binary string, n int) (killed bool) {
	name := fmt.Sprintf("cache-%d", n)
	mc := &cachev1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Namespace: killedNamespace, Name: name},
		Spec:       cachev1.MemcachedSpec{Size: new(killedSize)},
	}
	g := newGomega(t)
	g.Expect(c.Client.Create(t.Context(), mc)).To(gomega.Succeed())
	t.Cleanup(func() { _ = c.Client.Delete(context.WithoutCancel(t.Context()), mc) })

	first := startOperator(t, binary, n)
	converged := func() bool {
		g.Expect(c.Client.Get(t.Context(), client.ObjectKeyFromObject(mc), mc)).To(gomega.Succeed())
		return slices.ContainsFunc(mc.Status.Conditions, func(condition metav1.Condition) bool {
			return condition.Type == cachev1.ConditionReady && condition.Status == "True"
		})
	}
	g.Eventually(func() bool { return first.gone() || converged() }).Should(gomega.BeTrue())
	killed = first.gone()
	first.stop()

	second := startOperator(t, binary, 0)
	defer second.stop()
	g.Eventually(converged).Should(gomega.BeTrue())
	assertNothingTwice(t, mc)
	return killed
}

// assertNothingTwice checks that there is one of each child, and just as many Pods as were asked for.
func assertNothingTwice(t *testing.T, mc *cachev1.Memcached) {
	t.Helper()
	labels := client.MatchingLabels{"memcached_cr": mc.Name}
	for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, &appsv1.ReplicaSetList{}, &corev1.ServiceList{}} {
		if err := c.Client.List(t.Context(), list, client.InNamespace(mc.Namespace), labels); err != nil {
			t.Fatal(err)
		}
		if got := lengthOf(list); got != 1 {
			t.Errorf("%d objects in %T, want one", got, list)
		}
	}
	names := slices.Sorted(maps.Keys(c.pods(t, mc.Namespace, mc.Name)))
	if len(names) != int(killedSize) {
		t.Errorf("Pods %v, want %d", names, killedSize)
	}
	if diff := cmp.Diff(names, mc.Status.Nodes); diff != "" {
		t.Errorf("status.nodes (-Pods +status):\n%s", diff)
	}
}

func lengthOf(list client.ObjectList) int {
	switch list := list.(type) {
	case *appsv1.DeploymentList:
		return len(list.Items)
	case *appsv1.ReplicaSetList:
		return len(list.Items)
	case *corev1.ServiceList:
		return len(list.Items)
	}
	return -1
}

// operator is an operator on this machine, with the rights of the one in the cluster, that reaches the API server
// through a proxy which can kill it.
type operator struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// startOperator starts an operator that is killed after its n-th write, or never where n is 0.
func startOperator(t *testing.T, binary string, n int) *operator {
	t.Helper()
	o := &operator{done: make(chan struct{})}
	address := startProxy(t, n, o)
	o.cmd = exec.Command(binary, "--watch-namespaces="+killedNamespace,
		"--metrics-bind-address=0", "--health-probe-bind-address=0")
	o.cmd.Env = []string{
		"KUBECONFIG=" + writeKubeconfig(t, address), "HOME=" + t.TempDir(),
		"RELATED_IMAGE_MEMCACHED=" + c.images.Memcached, "RELATED_IMAGE_AGENT=" + c.images.Agent,
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "operator.log"))
	if err != nil {
		t.Fatal(err)
	}
	o.cmd.Stdout, o.cmd.Stderr = log, log
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = o.cmd.Wait(); _ = log.Close(); close(o.done) }()
	t.Cleanup(o.stop)
	return o
}

func (o *operator) gone() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

func (o *operator) stop() {
	_ = o.cmd.Process.Kill()
	<-o.done
}

// startProxy passes requests on to the API server. It kills the operator when the n-th write has been carried out,
// and keeps the answer from it.
func startProxy(t *testing.T, n int, o *operator) (address string) {
	t.Helper()
	config := operatorConfig(t)
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	var writes atomic.Int32
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1,
		ModifyResponse: func(response *http.Response) error {
			if isWrite(response.Request) && int(writes.Add(1)) == n {
				_ = o.cmd.Process.Kill()
				<-o.done
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: proxy}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String()
}

// isWrite leaves out events: they are no part of the work.
func isWrite(request *http.Request) bool {
	return request.Method != http.MethodGet && !strings.HasSuffix(request.URL.Path, "/events")
}

// operatorConfig connects as the operator's service account, so with its role and nothing more.
func operatorConfig(t *testing.T) *rest.Config {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: operatorNamespace, Name: operatorName,
	}}
	token := &authenticationv1.TokenRequest{}
	if err := c.Client.SubResource("token").Create(t.Context(), account, token); err != nil {
		t.Fatal(err)
	}
	admin, err := c.Cluster.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken = token.Status.Token
	return config
}

func writeKubeconfig(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"proxy": {Server: server}},
		Contexts:       map[string]*clientcmdapi.Context{"proxy": {Cluster: "proxy"}},
		CurrentContext: "proxy",
	}, path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// stopOperator stops the one that make deploy installed, until the test ends.
func (s *site) stopOperator(t *testing.T) {
	t.Helper()
	scale := func(ctx context.Context, replicas int) error {
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))
		manager := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorName}}
		return s.Client.Patch(ctx, manager, patch)
	}
	if err := scale(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := scale(context.WithoutCancel(t.Context()), 1); err != nil {
			t.Error(err)
		}
	})
	newGomega(t).Eventually(func() int32 { return s.manager(t).Status.Replicas }).Should(gomega.BeZero())
}
