//go:build e2e

package memcached

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
)

const (
	rightLogin = "ann correct-horse"
	wrongLogin = "ann correct-house"
)

// guarded is a memcached that requires certificates and users, started with the operator's arguments.
type guarded struct {
	address, plaintext string
	ca                 *agenttest.Certificate
}

func startGuarded(t *testing.T, change func(*TLS)) *guarded {
	t.Helper()
	ca := agenttest.NewCertificate(t, nil)
	dir, err := os.MkdirTemp("", "memcached-guarded-") // Another user can't read t.TempDir().
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	files := agenttest.NewCertificate(t, ca).Secret()
	files["ca.crt"], files["auth"] = ca.PEM, strings.Replace(rightLogin, " ", ":", 1)+"\n"
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	settings := Settings{
		ItemMemory: DefaultItemMemory, MaxConnections: DefaultMaxConnections, Threads: DefaultThreads,
		MaxItemSize: DefaultMaxItemSize, AuthFile: at("auth"),
		TLS: &TLS{Certificate: at("tls.crt"), Key: at("tls.key"), ClientCA: at("ca.crt"), Require: true},
	}
	change(settings.TLS)
	address := start(t, &settings)
	_ = dial(t, address).Close()
	return &guarded{address: address, plaintext: fmt.Sprint(settings.Port), ca: ca}
}

// config is the TLS configuration of a client with a certificate; nil means without one.
func (g *guarded) config(t *testing.T, certificate *agenttest.Certificate, change func(*tls.Config)) *tls.Config {
	t.Helper()
	config := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10} //nolint:gosec // The client is the attacker.
	if certificate != nil {
		pair, err := tls.X509KeyPair([]byte(certificate.PEM), []byte(certificate.Key))
		if err != nil {
			t.Fatal(err)
		}
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	if change != nil {
		change(config)
	}
	return config
}

// answers returns memcached's answer to a client that logs in, if it may connect. Memcached judges a certificate after
// the handshake of TLS 1.3, so that a refusal shows with the first command.
func (g *guarded) answers(config *tls.Config, login string) (string, error) {
	connection, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Minute}, "tcp", g.address, config)
	if err != nil {
		return "", err
	}
	defer connection.Close()
	return converse(connection, login)
}

// converse logs in, unless the login is empty, and reads a key.
func converse(connection net.Conn, login string) (string, error) {
	if err := connection.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return "", err
	}
	request := "get key\r\n"
	if login != "" {
		request = fmt.Sprintf("set auth 0 0 %d\r\n%s\r\n", len(login), login)
	}
	if _, err := fmt.Fprint(connection, request); err != nil {
		return "", err
	}
	answer, err := bufio.NewReader(connection).ReadString('\n')
	return strings.TrimSpace(answer), err
}

// TestWrongCertificatesAreRefused tries clients with the right password and a certificate that memcached must not
// accept.
func TestWrongCertificatesAreRefused(t *testing.T) {
	g := startGuarded(t, func(*TLS) {})
	with := func(change func(*x509.Certificate)) *agenttest.Certificate {
		return agenttest.NewCertificateWith(t, g.ca, change)
	}
	stranger := agenttest.NewCertificate(t, nil)
	right := with(func(c *x509.Certificate) { c.IsCA, c.KeyUsage = false, x509.KeyUsageDigitalSignature })
	for name, certificate := range map[string]*agenttest.Certificate{
		"none":            nil,
		"self-signed":     stranger,
		"of a foreign CA": agenttest.NewCertificate(t, stranger),
		"of a CA with the right one's name": agenttest.NewCertificate(t,
			agenttest.NewCertificateWith(t, nil, func(c *x509.Certificate) { c.Subject = g.ca.Parsed.Subject })),
		"expired": with(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }),
		"for later": with(func(c *x509.Certificate) {
			c.NotBefore = time.Now().Add(time.Hour)
		}),
		"of a server":              with(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }),
		"signed by a client's own": chained(t, right),
	} {
		t.Run(name, func(t *testing.T) {
			for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
				answer, err := g.answers(g.config(t, certificate, func(c *tls.Config) { c.MaxVersion = version }), rightLogin)
				if err == nil {
					t.Errorf("%s: memcached answers %q", tls.VersionName(version), answer)
				}
			}
		})
	}
	g.admits(t, right)
}

// chained is a certificate whose signer's certificate has no right to sign. A client presents both.
func chained(t *testing.T, signer *agenttest.Certificate) *agenttest.Certificate {
	t.Helper()
	forged := agenttest.NewCertificate(t, signer)
	forged.PEM += signer.PEM
	return forged
}

// admits checks that a client with the certificate needs the password as well, and is served with both.
func (g *guarded) admits(t *testing.T, certificate *agenttest.Certificate) {
	t.Helper()
	const failure, malformed = "CLIENT_ERROR authentication failure", "CLIENT_ERROR bad authentication token format"
	for login, want := range map[string]string{
		rightLogin: "STORED", wrongLogin: failure, "": "CLIENT_ERROR unauthenticated", "ANN correct-horse": failure,
		"ann correct": failure, rightLogin + "s": failure, "an correct-horse": failure, "anne correct-horse": failure,
		"ann \x00": malformed, "ann ": malformed, "ann": malformed, strings.Repeat("x", 300): malformed,
	} {
		answer, err := g.answers(g.config(t, certificate, nil), login)
		if err != nil || answer != want {
			t.Errorf("login %.30q: %q, %v, want %q", login, answer, err, want)
		}
	}
}

// TestOlderVersionsAndWeakCiphersAreRefused tries a client with the right certificate and password, which offers only
// older versions or weaker ciphers.
func TestOlderVersionsAndWeakCiphersAreRefused(t *testing.T) {
	weak := []uint16{
		tls.TLS_RSA_WITH_RC4_128_SHA, tls.TLS_RSA_WITH_3DES_EDE_CBC_SHA, tls.TLS_RSA_WITH_AES_128_CBC_SHA,
		tls.TLS_ECDHE_ECDSA_WITH_RC4_128_SHA, tls.TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA,
	}
	upTo := func(version uint16) func(*tls.Config) { return func(c *tls.Config) { c.MaxVersion = version } }
	listed := func(s *TLS) { s.Ciphers = []string{"ECDHE-ECDSA-AES256-GCM-SHA384"} }
	for name, tc := range map[string]struct {
		server func(*TLS)
		client func(*tls.Config)
	}{
		"TLS 1.0":                                  {func(*TLS) {}, upTo(tls.VersionTLS10)},
		"TLS 1.1":                                  {func(*TLS) {}, upTo(tls.VersionTLS11)},
		"TLS 1.2 where 1.3 is the least":           {func(s *TLS) { s.Only13 = true }, upTo(tls.VersionTLS12)},
		"TLS 1.1 where 1.3 is the least":           {func(s *TLS) { s.Only13 = true }, upTo(tls.VersionTLS11)},
		"weak ciphers alone":                       {func(*TLS) {}, func(c *tls.Config) { c.MaxVersion, c.CipherSuites = tls.VersionTLS12, weak }},
		"weak ciphers where another one is listed": {listed, func(c *tls.Config) { c.MaxVersion, c.CipherSuites = tls.VersionTLS12, weak }},
		"a strong cipher that is not listed": {listed, func(c *tls.Config) {
			c.MaxVersion, c.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := startGuarded(t, tc.server)
			right := agenttest.NewCertificate(t, g.ca)
			if answer, err := g.answers(g.config(t, right, tc.client), rightLogin); err == nil {
				t.Errorf("memcached answers %q", answer)
			}
			g.admits(t, right)
		})
	}
}

// TestTheNameThatAClientRequestsOpensNothing: memcached ignores the name that a client requests, so the name neither
// allows nor prevents a connection.
func TestTheNameThatAClientRequestsOpensNothing(t *testing.T) {
	g := startGuarded(t, func(*TLS) {})
	right := agenttest.NewCertificate(t, g.ca)
	for _, name := range []string{
		"", "memcached.test", "localhost", "127.0.0.1", "another.example.com", strings.Repeat("a.", 120) + "a", "*.test",
		"xn--nxasmq6b", "MEMCACHED.TEST", "a b", "_", "../../etc/passwd",
	} {
		asking := func(c *tls.Config) { c.ServerName = name }
		if answer, err := g.answers(g.config(t, nil, asking), rightLogin); err == nil {
			t.Errorf("a client without a certificate that requests %q is answered %q", name, answer)
		}
		if answer, err := g.answers(g.config(t, right, asking), rightLogin); err != nil || answer != "STORED" {
			t.Errorf("the right client that requests %q: %q, %v", name, answer, err)
		}
	}
}

// TestThePortWithoutTLSIsThatOfThePodAlone connects to this port from an address that is not of the loopback interface.
func TestThePortWithoutTLSIsThatOfThePodAlone(t *testing.T) {
	g := startGuarded(t, func(*TLS) {})
	answer, err := converse(dial(t, net.JoinHostPort("127.0.0.1", g.plaintext)), "")
	if err != nil || answer != "CLIENT_ERROR unauthenticated" {
		t.Errorf("on the loopback interface, without a password: %q, %v", answer, err)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		ip := address.(*net.IPNet).IP
		if ip.IsLoopback() || ip.IsLinkLocalUnicast() {
			continue
		}
		connection, err := net.DialTimeout("tcp", net.JoinHostPort(ip.String(), g.plaintext), 2*time.Second)
		if err == nil {
			_ = connection.Close()
			t.Errorf("the port without TLS is open at %s", ip)
		}
	}
}
