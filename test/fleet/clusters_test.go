//go:build e2e

package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"testing"

	"github.com/inetaf/tcpproxy"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/install"
	"github.com/example-inc/memcached-operator/internal/testing/operator"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
)

// spoke is a cluster of simulated Nodes, into which the Argo CD of another cluster (the hub) installs.
type spoke struct {
	*local.Cluster
	config *rest.Config
	kube   client.WithWatch
}

// newSpoke starts the cluster, and makes its API server reachable in the network of the hub.
func newSpoke(ctx context.Context, name, architecture string, hub *local.Cluster) (*spoke, error) {
	cluster, err := local.Up(ctx, local.Options{
		Name: name, Simulated: true, Attached: true, Architectures: []string{architecture},
	})
	if err != nil {
		return nil, err
	}
	s := &spoke{Cluster: cluster}
	if s.config, err = cluster.RESTConfig(); err != nil {
		return nil, err
	}
	if s.kube, err = install.NewClient(s.config); err != nil {
		return nil, err
	}
	server, err := url.Parse(s.config.Host)
	if err != nil {
		return nil, err
	}
	// The proxy in the network of the hub listens at the address that the API server has outside of this network.
	wire := &tcpproxy.Proxy{ListenFunc: listenWith(ctx, hub.Pid)}
	wire.AddRoute(server.Host, tcpproxy.To(server.Host))
	return s, wire.Start()
}

// listenWith returns a function that opens sockets in the network namespace of another process. A socket stays in that
// network, even if this process accepts its connections.
func listenWith(ctx context.Context, pid int) func(network, address string) (net.Listener, error) {
	return func(network, address string) (listener net.Listener, err error) {
		opened := make(chan struct{})
		go func() {
			defer close(opened)
			runtime.LockOSThread() // It is never unlocked, so no other goroutine runs in that network.
			namespace, failed := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
			if err = failed; err != nil {
				return
			}
			defer namespace.Close()
			if err = unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err == nil {
				listener, err = (&net.ListenConfig{}).Listen(ctx, network, address)
			}
		}()
		<-opened
		return listener, err
	}
}

// secret returns the Secret by which Argo CD knows a cluster, as in docs/fleet.md.
func (c cluster) secret(access *rest.Config) *corev1.Secret {
	config, _ := json.Marshal(map[string]any{}) // as for the hub's own cluster
	if access != nil {
		tls := map[string]any{"caData": access.CAData, "certData": access.CertData, "keyData": access.KeyData}
		config, _ = json.Marshal(map[string]any{"tlsClientConfig": tls})
	}
	labels := c.labels()
	labels["argocd.argoproj.io/secret-type"] = "cluster"
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "cluster-" + c.name, Namespace: "argocd", Labels: labels},
		StringData: map[string]string{"name": c.name, "server": c.server, "config": string(config)},
	}
}

// operate runs the operator outside of the spoke, because no program runs in the Pods of its Deployment.
func (s *spoke) operate(t *testing.T) {
	t.Helper()
	binary, err := operator.Build(t.Context(), repository, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	operator.Start(t, binary, s.Kubeconfig, nil)
}
