package reload

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
)

func TestServed(t *testing.T) {
	certificate := agenttest.NewCertificate(t, nil)
	pair, err := tls.X509KeyPair([]byte(certificate.PEM), []byte(certificate.Key))
	if err != nil {
		t.Fatal(err)
	}
	for name, config := range map[string]*tls.Config{
		"TLS 1.2":              {MaxVersion: tls.VersionTLS12},
		"TLS 1.3":              {MinVersion: tls.VersionTLS13},
		"mutual TLS, with 1.2": {MaxVersion: tls.VersionTLS12, ClientAuth: tls.RequireAndVerifyClientCert},
		"mutual TLS, with 1.3": {MinVersion: tls.VersionTLS13, ClientAuth: tls.RequireAndVerifyClientCert},
	} {
		t.Run(name, func(t *testing.T) {
			config.Certificates = []tls.Certificate{pair}
			got, err := Served(t.Context(), serve(t, func(connection net.Conn) {
				_ = tls.Server(connection, config).HandshakeContext(t.Context())
			}))
			if err != nil || !got.Equal(certificate.Parsed) {
				t.Errorf("error %v", err)
			}
		})
	}
	t.Run("no TLS", func(t *testing.T) {
		_, err := Served(t.Context(), serve(t, func(connection net.Conn) { _, _ = connection.Write([]byte("ERROR\r\n")) }))
		if err == nil || !strings.Contains(err.Error(), "memcached presents no certificate") {
			t.Errorf("error %v", err)
		}
	})
}

// serve starts a server that calls a function for each connection.
func serve(t *testing.T, answer func(net.Conn)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			answer(connection)
			_ = connection.Close()
		}
	}()
	return listener.Addr().String()
}
