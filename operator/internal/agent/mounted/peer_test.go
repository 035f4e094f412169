package mounted_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
)

func named(names ...string) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.DNSNames = names }
}

func usedFor(usages ...x509.ExtKeyUsage) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.ExtKeyUsage = usages }
}

func TestPeer(t *testing.T) {
	ca := agenttest.NewCertificate(t, nil)
	own := agenttest.NewCertificate(t, ca)
	selfSigned := agenttest.NewCertificate(t, nil)
	tests := map[string]struct {
		own, served, ca *agenttest.Certificate
		accepted        bool
	}{
		"the mounted certificate":               {own, own, ca, true},
		"the mounted certificate, without a CA": {own, own, nil, true},
		"the mounted certificate, self-signed":  {selfSigned, selfSigned, nil, true},
		"another version of it":                 {own, agenttest.NewCertificate(t, ca), ca, true},
		"another version of it, without a CA":   {own, agenttest.NewCertificate(t, ca), nil, false},
		"another version of a self-signed one":  {selfSigned, agenttest.NewCertificate(t, nil), nil, false},
		"another application's by the same CA":  {own, agenttest.NewCertificateWith(t, ca, named("shop.test")), ca, false},
		"one without names by the same CA":      {own, agenttest.NewCertificateWith(t, ca, named()), ca, false},
		"one with another name more":            {own, agenttest.NewCertificateWith(t, ca, named("a", "memcached.test")), ca, true},
		"the same name by another CA":           {own, agenttest.NewCertificate(t, agenttest.NewCertificate(t, nil)), ca, false},
		"a client's certificate with the name of the server": {
			own, agenttest.NewCertificateWith(t, ca, usedFor(x509.ExtKeyUsageClientAuth)), ca, false,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := shake(t, peer(t, test.own, test.ca), test.served)
			var unknown *mounted.UnknownError
			if err != nil && !errors.As(err, &unknown) || (err == nil) != test.accepted {
				t.Errorf("accepted %v: %v", err == nil, err)
			}
		})
	}
}

func TestAClientCertificateIsPresentedOnlyIfItIsOne(t *testing.T) {
	ca := agenttest.NewCertificate(t, nil)
	tests := map[string]struct {
		own       *agenttest.Certificate
		presented bool
	}{
		"for any use":             {agenttest.NewCertificate(t, ca), true},
		"for servers and clients": {agenttest.NewCertificateWith(t, ca, usedFor(x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth)), true},
		"for servers":             {agenttest.NewCertificateWith(t, ca, usedFor(x509.ExtKeyUsageServerAuth)), false},
		"by another CA":           {agenttest.NewCertificate(t, nil), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			presented, err := shake(t, peer(t, test.own, ca), test.own)
			if err != nil || presented != test.presented {
				t.Errorf("presented %v: %v", presented, err)
			}
		})
	}
}

func TestASecretThatIsNotValidHasNoPeer(t *testing.T) {
	dir := t.TempDir()
	if _, err := (mounted.Certificate{Dir: dir}).Peer(); err == nil {
		t.Error("an empty Secret")
	}
	if _, err := (mounted.Certificate{Dir: dir + "/none"}).Peer(); err == nil {
		t.Error("no folder")
	}
}

// peer returns the configuration of an agent with a mounted certificate.
func peer(t *testing.T, own, ca *agenttest.Certificate) *tls.Config {
	t.Helper()
	dir, secret := t.TempDir(), own.Secret()
	if ca != nil {
		secret["ca.crt"] = ca.PEM
	}
	agenttest.Mount(t, dir, secret)
	config, err := mounted.Certificate{Dir: dir}.Peer()
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// shake connects to a server that requests a client certificate, and returns whether one was presented.
func shake(t *testing.T, client *tls.Config, served *agenttest.Certificate) (presented bool, err error) {
	t.Helper()
	pair, err := tls.X509KeyPair([]byte(served.PEM), []byte(served.Key))
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	server := make(chan int, 1)
	go func() {
		defer close(server)
		accepted, err := listener.Accept()
		if err != nil {
			return
		}
		defer accepted.Close()
		_, _ = accepted.Read(make([]byte, 1)) // an error means that the client refused the handshake
		server <- len(accepted.(*tls.Conn).ConnectionState().PeerCertificates)
	}()
	connection, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	err = tls.Client(connection, client).HandshakeContext(t.Context())
	_ = connection.Close()
	return <-server > 0, err
}
