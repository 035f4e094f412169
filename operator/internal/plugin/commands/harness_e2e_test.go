//go:build e2e

package commands

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/internal/testing/unused"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
)

// cache is a cache with slots, TLS and login: real memcacheds, which the API server of a test shows as Pods.
type cache struct {
	t       *testing.T
	ctx     context.Context // of commands
	mc      *cachev1.Memcached
	pods    []corev1.Pod
	secrets map[string]*corev1.Secret // that the user may read
	servers []*memcachedtest.Server

	addresses map[string]string // by Pod, with the port that requires TLS
	plain     []string          // addresses that require no TLS, for the tests
	mutex     sync.Mutex
	dialed    []int32 // ports

	broken, gone atomic.Bool // the API server fails, the Memcached does not exist
}

// secured starts a cache with this number of servers.
func secured(t *testing.T, size int, arguments ...string) *cache {
	t.Helper()
	ca := agenttest.NewCertificate(t, nil)
	certificate := agenttest.NewCertificateWith(t, ca, func(c *x509.Certificate) {
		c.DNSNames = []string{"shop.team.svc", "*.shop-slots.team.svc"}
	})
	secret := certificate.Secret()
	secret["ca.crt"] = ca.PEM
	secret["users"] = "app:secret\n"
	dir := t.TempDir()
	for name, content := range secret {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &cache{t: t, ctx: t.Context(), mc: cachetest.Memcached("shop", cachev1.ReasonAllPodsReady, ""), addresses: map[string]string{}}
	c.mc.APIVersion, c.mc.Kind = cachev1.GroupVersion.String(), "Memcached"
	c.mc.Spec.TLS, c.mc.Spec.Auth = &cachev1.TLS{SecretName: "server"}, &cachev1.Auth{SecretName: "users"}
	c.mc.Spec.Slots = &cachev1.Slots{ClientHash: cachev1.HashKetama}
	c.secrets = map[string]*corev1.Secret{
		"server": {StringData: secret}, "users": {StringData: map[string]string{"users": secret["users"]}},
	}
	for number := range size {
		pod := cachetest.Pod("shop", fmt.Sprint(number, "aaaa"), "node-a")
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: names.TLSPort, ContainerPort: names.TLSPortNumber}}
		slot := fmt.Sprint("shop-", number)
		c.mc.Status.Slots = append(c.mc.Status.Slots, cachev1.SlotStatus{
			Name: slot, Pod: pod.Name, State: cachev1.SlotServing, Address: slot + ".shop-slots.team.svc:11212",
		})
		plain := unused.Address(t)
		server := memcachedtest.Start(t, append([]string{
			"--enable-ssl", "--auth-file=" + dir + "/users", "--listen=notls:" + plain,
			"--extended=ssl_chain_cert=" + dir + "/tls.crt,ssl_key=" + dir + "/tls.key",
		}, arguments...)...)
		c.pods, c.servers, c.plain = append(c.pods, pod), append(c.servers, server), append(c.plain, plain)
		c.addresses[pod.Name] = server.Address
	}
	return c
}

// Dial connects to a server directly, instead of by port-forward.
func (c *cache) Dial(ctx context.Context, pod *corev1.Pod, port int32) (net.Conn, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.dialed = append(c.dialed, port)
	return (&net.Dialer{}).DialContext(ctx, "tcp", c.addresses[pod.Name])
}

// ServeHTTP answers requests as the API server does.
func (c *cache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if c.broken.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	var object any
	switch path := strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/team/"); {
	case strings.HasSuffix(path, "/memcacheds/shop") && c.gone.Load():
		w.WriteHeader(http.StatusNotFound)
		object = notFound("shop")
	case path == "/apis/cache.example.com/v1/namespaces/team/memcacheds/shop":
		object = c.mc
	case path == "/apis/cache.example.com/v1/namespaces/team/memcacheds":
		object = map[string]any{"apiVersion": cachev1.GroupVersion.String(), "kind": "MemcachedList", "items": []any{c.mc}}
	case path == "pods":
		object = corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: c.pods}
	case strings.HasPrefix(path, "secrets/") && c.secrets[strings.TrimPrefix(path, "secrets/")] != nil:
		secret := c.secrets[strings.TrimPrefix(path, "secrets/")].DeepCopy()
		secret.APIVersion, secret.Kind, secret.Data = "v1", "Secret", map[string][]byte{}
		for name, value := range secret.StringData {
			secret.Data[name] = []byte(value)
		}
		object = secret
	default:
		w.WriteHeader(http.StatusForbidden)
		object = metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
			Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden, Message: "forbidden: " + r.URL.Path,
		}
	}
	_ = json.NewEncoder(w).Encode(object)
}

// run runs a command of the plugin, with an input.
func (c *cache) run(input string, arguments ...string) (string, error) {
	c.t.Helper()
	api := httptest.NewServer(c)
	defer api.Close()
	c.t.Setenv("KUBECONFIG", filepath.Join(c.t.TempDir(), "none"))
	var out bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(input), Out: &out, ErrOut: &out}
	root := newRoot(streams, "1.2.3", func(*rest.Config) reach.Dialer { return c })
	root.SetArgs(append(arguments, "--server="+api.URL, "--cache-dir="+c.t.TempDir(), "-n", "team"))
	err := root.ExecuteContext(c.ctx)
	c.t.Logf("$ kubectl memcached %s\n%s%v", strings.Join(arguments, " "), &out, err)
	return out.String(), err
}

// prints runs a command, which has to succeed and to print all these texts.
func (c *cache) prints(wanted []string, arguments ...string) string {
	c.t.Helper()
	out, err := c.run("", arguments...)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, text := range wanted {
		if !strings.Contains(out, text) {
			c.t.Errorf("%q does not print %q:\n%s", arguments, text, out)
		}
	}
	return out
}

// client returns a client that has logged in to the server with this number.
func (c *cache) client(number int) *protocol.Client {
	c.t.Helper()
	client, err := protocol.Dial(c.t.Context(), c.plain[number], nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = client.Close() })
	if err := client.Authenticate(c.t.Context(), "app", "secret"); err != nil {
		c.t.Fatal(err)
	}
	return client
}

// send sends commands, and reads a number of lines of their answers.
func (c *cache) send(number int, commands string, lines int) {
	c.t.Helper()
	connection := c.client(number).Connection()
	if _, err := io.WriteString(connection, commands); err != nil {
		c.t.Fatal(err)
	}
	buffer := make([]byte, 1<<16)
	for got := 0; got < lines; {
		n, err := connection.Read(buffer)
		if err != nil {
			c.t.Fatal(err)
		}
		got += bytes.Count(buffer[:n], []byte("\n"))
	}
}
