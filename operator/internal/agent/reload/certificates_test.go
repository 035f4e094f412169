package reload

import (
	"crypto/tls"
	"net"
	"sync/atomic"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
)

// serving starts a server with a certificate, and counts how often clients request this certificate.
func serving(t *testing.T, certificate *agenttest.Certificate) (address string, asked *atomic.Int64) {
	t.Helper()
	pair, err := tls.X509KeyPair([]byte(certificate.PEM), []byte(certificate.Key))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	asked = &atomic.Int64{}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			_ = tls.Server(connection, &tls.Config{Certificates: []tls.Certificate{pair}}).HandshakeContext(t.Context())
			_ = connection.Close()
		}
	}()
	return listener.Addr().String(), asked
}

func TestCheckComparesWhatIsServedWithWhatIsMounted(t *testing.T) {
	one, other := agenttest.NewCertificate(t, nil), agenttest.NewCertificate(t, nil)
	address, _ := serving(t, one)
	for certificate, same := range map[*agenttest.Certificate]bool{one: true, other: false} {
		c := &Certificates{Source: mounted.Certificate{Dir: t.TempDir()}, Address: address}
		agenttest.Mount(t, c.Source.Dir, certificate.Secret())
		if _, err := c.Read(); err != nil {
			t.Fatal(err)
		}
		if err := c.Check(t.Context()); (err == nil) != same {
			t.Errorf("same: %t, error %v", same, err)
		}
	}
}

func TestMemcachedReportsItsCertificateNowAndThen(t *testing.T) {
	certificate := agenttest.NewCertificate(t, nil)
	address, asked := serving(t, certificate)
	c := &Certificates{Source: mounted.Certificate{Dir: t.TempDir()}, Address: address}
	agenttest.Mount(t, c.Source.Dir, certificate.Secret())
	if _, err := c.Read(); err != nil {
		t.Fatal(err)
	}
	served := func(want int64) {
		t.Helper()
		got, err := c.Served(t.Context())
		if err != nil || !got.Equal(certificate.Parsed) || asked.Load() != want {
			t.Errorf("asked %d times, want %d; error %v", asked.Load(), want, err)
		}
	}
	served(1)
	served(1)
	if err := c.Check(t.Context()); err != nil {
		t.Error(err)
	}
	served(2) // Check has looked again, and Served returns what Check found.
	c.asked = c.asked.Add(-servedFor)
	served(3)
	c.Address, c.asked = "127.0.0.1:1", c.asked.Add(-servedFor)
	if got, err := c.Served(t.Context()); err == nil {
		t.Errorf("the former answer is returned although memcached is down: %s", got.Subject)
	}
}
