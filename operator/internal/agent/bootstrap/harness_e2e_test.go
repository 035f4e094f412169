//go:build e2e

package bootstrap

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/internal/testing/unused"
	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// servers are the source or the target of a copy: memcached servers, clients of each server, and the hash by which
// clients choose the server of a key.
type servers struct {
	running []*memcachedtest.Server
	names   []string
	clients []*protocol.Client
	choose  clienthash.Chooser
}

// security has the CA and the login of the old servers, or of the new ones. It is empty if they require neither TLS nor
// a login.
type security struct {
	ca             *agenttest.Certificate
	user, password string

	tlsDir, authDir string // mounted Secrets
}

// startServers starts memcacheds, with a certificate and users if the security has them.
func startServers(t *testing.T, hash clienthash.Algorithm, count int, s *security, arguments ...string) *servers {
	t.Helper()
	side := &servers{}
	for range count {
		side.names = append(side.names, unused.Address(t))
	}
	arguments = append(arguments, s.mount(t, side.names)...)
	for _, name := range side.names {
		side.running = append(side.running, memcachedtest.StartAt(t, name, arguments...))
		side.clients = append(side.clients, s.connect(t, name))
	}
	choose, err := clienthash.New(hash, side.names)
	if err != nil {
		t.Fatal(err)
	}
	side.choose = choose
	return side
}

// mount writes the Secrets' files that memcached and the program load, and returns memcached's arguments.
func (s *security) mount(t *testing.T, names []string) (arguments []string) {
	t.Helper()
	if s.ca != nil {
		secret := agenttest.NewCertificateWith(t, s.ca, withAddresses(names)).Secret()
		secret["ca.crt"] = s.ca.PEM
		s.tlsDir = t.TempDir()
		agenttest.Mount(t, s.tlsDir, secret)
		arguments = append(arguments, "--enable-ssl",
			fmt.Sprintf("--extended=ssl_chain_cert=%[1]s/tls.crt,ssl_key=%[1]s/tls.key", s.tlsDir))
	}
	if s.user != "" {
		s.authDir = t.TempDir()
		agenttest.Mount(t, s.authDir, map[string]string{"username": s.user, "password": s.password})
		file := filepath.Join(t.TempDir(), "users")
		if err := users.WriteFile(file, []users.User{{Name: s.user, Password: s.password}}); err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, "--auth-file="+file)
	}
	return arguments
}

func (s *security) connect(t *testing.T, address string) *protocol.Client {
	t.Helper()
	connection, err := s.dialer(address)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return protocol.New(connection)
}

func (s *security) dialer(address string) handoff.Dial {
	options := &Options{From: []string{address}, FromTLSDir: s.tlsDir, FromAuthDir: s.authDir, FromHash: "Ketama", To: []string{"a:1"}, ToHash: "Ketama"}
	move, err := options.move()
	if err != nil {
		panic(err)
	}
	return move.Servers[0].Dial
}

func (s *servers) set(t *testing.T, key, value string) {
	t.Helper()
	answer, err := s.of(key).Ask(t.Context(), fmt.Sprintf("ms %s %d T0\r\n%s\r\n", key, len(value), value))
	if err != nil || answer != "HD" {
		t.Fatalf("%s: %q, %v", key, answer, err)
	}
}

func (s *servers) has(t *testing.T, key string) bool {
	t.Helper()
	answer, err := s.of(key).Ask(t.Context(), "mg "+key+" s\r\n")
	if err != nil {
		t.Fatal(err)
	}
	return answer != "EN"
}

// holds waits until the value of a key has this length; 0 means that there is no value.
func (s *servers) holds(t *testing.T, key string, length int) {
	t.Helper()
	want := "EN"
	if length > 0 {
		want = fmt.Sprintf("HD s%d", length)
	}
	gomega.NewWithT(t).Eventually(func() (string, error) { return s.of(key).Ask(t.Context(), "mg "+key+" s\r\n") }).
		WithTimeout(time.Minute).Should(gomega.Equal(want), key)
}

func (s *servers) of(key string) *protocol.Client { return s.clients[s.choose([]byte(key))] }

// program is `agent bootstrap` in a Pod.
type program struct {
	*Options

	log   buffer
	stop  context.CancelFunc
	ended chan error
}

func newProgram(t *testing.T, from, to *servers) *program {
	t.Helper()
	dir := t.TempDir()
	options := &Options{
		From: from.names, FromHash: "Ketama", To: to.names, ToHash: "Rendezvous",
		PhaseFile: filepath.Join(dir, "phase"), StateFile: filepath.Join(dir, "state"),
		MetricsAddress: unused.Address(t), ProbeAddress: unused.Address(t),
	}
	p := &program{Options: options}
	p.instruct(t, "follow")
	return p
}

func (p *program) instruct(t *testing.T, content string) {
	t.Helper()
	if err := os.WriteFile(p.PhaseFile, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (p *program) start(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	p.stop, p.ended = stop, make(chan error, 1)
	ended := p.ended
	done := make(chan struct{})
	go func() {
		defer close(done)
		ended <- Run(ctx, p.Options, "1.2.3", slog.New(slog.NewTextHandler(io.MultiWriter(&p.log, t.Output()), nil)))
	}()
	t.Cleanup(func() { stop(); <-done })
}

// end waits until the program has ended.
func (p *program) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-p.ended:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the program does not end")
		return nil
	}
}

func (p *program) get(url string) (int, string) {
	answer, err := http.Get("http://" + url)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text)
}

func (p *program) becomes(t *testing.T, path string) {
	t.Helper()
	gomega.NewWithT(t).Eventually(func() int {
		select {
		case err := <-p.ended:
			t.Fatalf("%s: the program has ended: %v", path, err)
		default:
		}
		code, _ := p.get(p.ProbeAddress + path)
		return code
	}).WithTimeout(time.Minute).Should(gomega.Equal(http.StatusOK), path)
}

// buffer is a log that a test reads while the program writes it.
type buffer struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (b *buffer) Write(text []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.Write(text)
}

func (b *buffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.String()
}

func withAddresses(names []string) func(*x509.Certificate) {
	return func(template *x509.Certificate) {
		for _, name := range names {
			host, _, _ := net.SplitHostPort(name)
			template.IPAddresses = append(template.IPAddresses, net.ParseIP(host))
		}
	}
}
