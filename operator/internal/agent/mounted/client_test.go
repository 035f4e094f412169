package mounted

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
)

func TestClientVerifiesAServerOutsideOfTheCache(t *testing.T) {
	ca, other := agenttest.NewCertificate(t, nil), agenttest.NewCertificate(t, nil)
	served := agenttest.NewCertificate(t, ca)
	for name, tc := range map[string]struct {
		ca     *agenttest.Certificate
		server string
		want   bool
	}{
		"by its CA and name": {ca, "memcached.test", true},
		"another CA":         {other, "memcached.test", false},
		"another name":       {ca, "cache.test", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			agenttest.Mount(t, dir, map[string]string{"ca.crt": tc.ca.PEM})
			config, err := Client(dir, tc.server)
			if err != nil {
				t.Fatal(err)
			}
			pair, err := tls.X509KeyPair([]byte(served.PEM), []byte(served.Key))
			if err != nil {
				t.Fatal(err)
			}
			listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			go func() {
				if connection, err := listener.Accept(); err == nil {
					_, _ = connection.Read(make([]byte, 1)) // the handshake
				}
			}()
			connection, err := tls.Dial("tcp", listener.Addr().String(), config)
			if err == nil {
				_ = connection.Close()
			}
			var unverified *tls.CertificateVerificationError
			if (err == nil) != tc.want || err != nil && !errors.As(err, &unverified) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestClientRefusesAnIncompleteSecret(t *testing.T) {
	certificate := agenttest.NewCertificate(t, nil)
	complete := certificate.Secret()
	complete["ca.crt"] = certificate.PEM
	for name, tc := range map[string]struct {
		change func(map[string]string)
		want   string
	}{
		"complete":              {func(map[string]string) {}, "<nil>"},
		"no client certificate": {func(s map[string]string) { delete(s, "tls.crt"); delete(s, "tls.key") }, "<nil>"},
		"no CA":                 {func(s map[string]string) { delete(s, "ca.crt") }, " has no CA in ca.crt: add the CA by which the servers are verified"},
		"no key":                {func(s map[string]string) { delete(s, "tls.key") }, " has only one of tls.crt and tls.key"},
		"another key":           {func(s map[string]string) { s["tls.key"] = agenttest.NewCertificate(t, nil).Key }, ": tls.crt and tls.key are no key pair"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, secret := t.TempDir(), maps.Clone(complete)
			tc.change(secret)
			agenttest.Mount(t, dir, secret)
			_, err := Client(dir, "memcached.test")
			if got := strings.TrimPrefix(fmt.Sprint(err), dir); !strings.HasPrefix(got, tc.want) {
				t.Errorf("error %s, want %s", got, tc.want)
			}
		})
	}
}
