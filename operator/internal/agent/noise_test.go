package agent

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/internal/testing/unused"
	"github.com/example-inc/memcached-operator/operator/internal/agent/endpoint"
)

// noises are kinds of content that a client may send to a port that speaks HTTP. Each function returns all bytes that a
// connection sends.
var noises = []func(*rand.Rand) []byte{
	func(r *rand.Rand) []byte { return randomBytes(r, 1+r.IntN(4096)) },
	func(*rand.Rand) []byte { return nil },
	func(*rand.Rand) []byte { return []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") },
	func(*rand.Rand) []byte { return []byte("stats\r\nget key\r\nflush_all\r\n") },
	func(r *rand.Rand) []byte { // TLS: the beginning of a handshake, then anything
		return append([]byte{0x16, 0x03, byte(r.IntN(5)), byte(r.IntN(256)), byte(r.IntN(256)), 0x01}, randomBytes(r, 600)...)
	},
	func(r *rand.Rand) []byte { // an odd request line
		methods := []string{"GET", "POST", "CONNECT", "", "\x00", "get", "G E T", strings.Repeat("A", 9000)}
		targets := []string{"/metrics", "/started", "//metrics", "*", "http://[::1", "/%zz", "/../metrics", "/metrics?" + strings.Repeat("a", 9000)}
		return fmt.Appendf(nil, "%s %s HTTP/%d.%d\r\nHost: %s\r\n\r\n",
			methods[r.IntN(len(methods))], targets[r.IntN(len(targets))], r.IntN(4), r.IntN(3), randomBytes(r, r.IntN(8)))
	},
	func(r *rand.Rand) []byte { // headers without an end
		return bytes.Repeat([]byte("X-Header: "+strings.Repeat("x", 1+r.IntN(900))+"\r\n"), 2000)
	},
	func(r *rand.Rand) []byte { // odd headers
		return fmt.Appendf([]byte("GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\nTransfer-Encoding: chunked, identity\r\n"),
			"Content-Length: %d\r\nContent-Length: -1\r\n%s: x\r\nExpect: 100-continue\r\nConnection: Upgrade\r\n\r\n%s",
			r.Int64(), randomBytes(r, 9), randomBytes(r, 99))
	},
	func(r *rand.Rand) []byte { // a body with a chunk of any length, and more requests after it
		return fmt.Appendf(nil, "POST /metrics HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s",
			r.Uint64()>>r.IntN(64), bytes.Repeat([]byte("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), r.IntN(40)))
	},
	func(r *rand.Rand) []byte { // a body that is shorter than announced
		return fmt.Appendf(nil, "PUT /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s", 1<<r.IntN(62), randomBytes(r, r.IntN(9000)))
	},
}

func randomBytes(r *rand.Rand, length int) []byte {
	content := make([]byte, length)
	for i := range content {
		content[i] = byte(r.Uint32())
	}
	return content
}

// makeNoise opens this number of connections to the addresses, from many clients at a time. Each client sends one of
// the noises, in pieces, and ends the connection in one of several ways. The same seed sends the same bytes.
func makeNoise(t *testing.T, seed uint64, connections int, addresses ...string) {
	t.Helper()
	const clients = 50
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(client)))
			for range connections / clients {
				sendNoise(r, addresses[r.IntN(len(addresses))])
			}
		})
	}
	all.Wait()
}

// sendNoise sends noise over one connection. It does not wait for long, because the port may not have accepted the
// connection yet.
func sendNoise(r *rand.Rand, address string) {
	content, patience, ending := noises[r.IntN(len(noises))](r), time.Duration(r.IntN(100))*time.Millisecond, r.IntN(3)
	connection, err := net.DialTimeout("tcp", address, time.Minute)
	if err != nil {
		return
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(patience))
	for len(content) > 0 {
		piece := min(len(content), 1+r.IntN(2000))
		if _, err := connection.Write(content[:piece]); err != nil {
			break // The server has refused the rest.
		}
		content = content[piece:]
	}
	switch tcp := connection.(*net.TCPConn); ending {
	case 0:
		_ = tcp.SetLinger(0) // a reset
	case 1:
		_ = tcp.CloseWrite()
		_, _ = io.Copy(io.Discard, tcp)
	}
}

// hold opens connections, and leaves them open without a complete request until the test ends or release is called.
func hold(t *testing.T, count int, addresses ...string) (release func()) {
	t.Helper()
	var held []net.Conn
	for i := range count {
		connection, err := net.DialTimeout("tcp", addresses[i%len(addresses)], time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = connection.Write([]byte("GET /metrics HTTP/1.1\r\nX-Slow: "))
		held = append(held, connection)
	}
	release = sync.OnceFunc(func() {
		for _, connection := range held {
			_ = connection.Close()
		}
	})
	t.Cleanup(release)
	return release
}

// hostileMemcached returns the address of a server that answers each line with random bytes: an attacker may control
// the memcached next to the agent.
func hostileMemcached(t *testing.T, seed uint64) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for number := uint64(0); ; number++ {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go answerNoise(rand.New(rand.NewPCG(seed, number)), connection)
		}
	}()
	return listener.Addr().String()
}

func answerNoise(r *rand.Rand, connection net.Conn) {
	defer connection.Close()
	request := make([]byte, 4096)
	for range r.IntN(20) {
		if _, err := connection.Read(request); err != nil {
			return
		}
		answers := [][]byte{
			randomBytes(r, r.IntN(9000)), []byte("STORED\r\n"), []byte("OK\r\n"), []byte("END\r\n"), []byte("STAT version \xff\"\nEND\r\n"),
			bytes.Repeat([]byte("STAT a b\r\n"), r.IntN(20000)), append([]byte("STAT "), randomBytes(r, 100)...), []byte("CLIENT_ERROR x\r\n"),
			fmt.Appendf(nil, "STAT %d:chunk_size %d\r\nSTAT items:%[1]d:age NaN\r\nEND\r\n", r.IntN(99), r.Int64()),
		}
		if _, err := connection.Write(answers[r.IntN(len(answers))]); err != nil {
			return
		}
	}
}

// TestNoNoiseEndsTheAgentOrStaysInItsMemory sends seeded random bytes to each port of an agent whose memcached answers
// with such bytes, too.
func TestNoNoiseEndsTheAgentOrStaysInItsMemory(t *testing.T) {
	const seed, connections, idle, spare = 19, 4000, 200, 8 << 20
	options := noisyOptions(t, seed)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, options, "test", slog.New(slog.DiscardHandler)) }()
	g := gomega.NewWithT(t)
	g.SetDefaultEventuallyTimeout(2 * time.Minute)
	g.Eventually(func() error { return serves(options) }).Should(gomega.Succeed())
	// The first noise makes the agent allocate the memory that it allocates only once.
	makeNoise(t, seed, 200, options.MetricsAddress, options.ProbeAddress)
	heap, goroutines := footprint()

	makeNoise(t, seed+1, connections, options.MetricsAddress, options.ProbeAddress)
	release := hold(t, idle, options.MetricsAddress, options.ProbeAddress)
	g.Consistently(runtime.NumGoroutine, "500ms").Should(gomega.BeNumerically("<", goroutines+4*endpoint.MaxConnections+20),
		"connections that are too many wait outside")
	release()

	g.Eventually(func() error { return serves(options) }).Should(gomega.Succeed(), "the ports serve again")

	release = hold(t, 2*endpoint.MaxConnections, options.MetricsAddress, options.ProbeAddress)
	g.Eventually(func() error { return serves(options) }).Should(gomega.Succeed(), "a client that sends nothing loses its place")
	release()

	g.Eventually(func() int { _, now := footprint(); return now }).Should(gomega.BeNumerically("<=", goroutines+5))
	g.Eventually(func() uint64 { now, _ := footprint(); return now }).Should(gomega.BeNumerically("<", heap+spare))
	g.Expect(ended).NotTo(gomega.Receive(), "the agent ended")
	cancel()
	g.Eventually(ended).Should(gomega.Receive(gomega.BeNil()))
}

// noisyOptions returns the options of an agent with users, TLS and the metrics of slab classes, next to a hostile
// memcached.
func noisyOptions(t *testing.T, seed uint64) *Options {
	t.Helper()
	options := NewOptions()
	options.MetricsAddress, options.ProbeAddress, options.Proc = unused.Address(t), unused.Address(t), t.TempDir()
	options.MemcachedAddress, options.MemcachedTLSAddress = hostileMemcached(t, seed), hostileMemcached(t, seed+1)
	options.AuthDir, options.AuthFile, options.TLSDir = t.TempDir(), filepath.Join(t.TempDir(), "auth"), t.TempDir()
	options.Interval, options.SlabClasses = 50*time.Millisecond, true
	agenttest.Mount(t, options.AuthDir, map[string]string{"users": "ann:one"})
	agenttest.Mount(t, options.TLSDir, agenttest.NewCertificate(t, nil).Secret())
	return options
}

// serves returns an error unless both ports answer an ordinary client.
func serves(options *Options) error {
	ordinary := http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, url := range []string{
		"http://" + options.MetricsAddress + "/metrics", "http://" + options.ProbeAddress + "/started",
		"http://" + options.ProbeAddress + "/healthz",
	} {
		answer, err := ordinary.Get(url)
		if err != nil {
			return err
		}
		content, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err == nil && answer.StatusCode != http.StatusOK {
			err = errors.New(answer.Status)
		}
		if err != nil {
			return fmt.Errorf("%s: %w: %s", url, err, content)
		}
	}
	return nil
}

func footprint() (heap uint64, goroutines int) {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc, runtime.NumGoroutine()
}

// TestThePortsSpeakNoTLS: a client that speaks TLS gets an answer in plaintext, or none, and its connection is closed.
func TestThePortsSpeakNoTLS(t *testing.T) {
	address := unused.Address(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = endpoint.Serve(ctx, address, endpoint.Probes(func() error { return nil })) }()
	g := gomega.NewWithT(t)
	g.Eventually(func() error {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			_ = connection.Close()
		}
		return err
	}).Should(gomega.Succeed())
	for version := uint16(tls.VersionTLS10); version <= tls.VersionTLS13; version++ {
		dialer := &net.Dialer{Timeout: time.Minute}
		_, err := tls.DialWithDialer(dialer, "tcp", address, &tls.Config{MinVersion: version, MaxVersion: version, InsecureSkipVerify: true})
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("first record does not look like a TLS handshake")))
	}
}

// TestHeadersWithoutAnEndAreRefused: they must be refused before they fill the memory of the agent.
func TestHeadersWithoutAnEndAreRefused(t *testing.T) {
	address := unused.Address(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = endpoint.Serve(ctx, address, endpoint.Probes(func() error { return nil })) }()
	g := gomega.NewWithT(t)
	var connection net.Conn
	g.Eventually(func() (err error) {
		connection, err = net.Dial("tcp", address)
		return err
	}).Should(gomega.Succeed())
	defer connection.Close()
	g.Expect(connection.SetDeadline(time.Now().Add(time.Minute))).To(gomega.Succeed())
	sent, err := connection.Write([]byte("GET /healthz HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X-Header: x\r\n", 4<<10)))
	g.Expect(err).NotTo(gomega.HaveOccurred(), "%d bytes were sent", sent)
	answer := make([]byte, 64)
	count, _ := connection.Read(answer)
	g.Expect(string(answer[:count])).To(gomega.ContainSubstring("431 Request Header Fields Too Large"))
}
