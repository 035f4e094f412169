package mounted

// Makes the TLS configuration for a connection to the memcached of another Pod.

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"slices"

	"github.com/example-inc/memcached-operator/operator/internal/secrets/certs"
)

// UnknownError means that a memcached presents a certificate that does not belong to the mounted Secret.
type UnknownError struct{ Subject string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("memcached presents the certificate of %q, "+
		"which is not a version of the mounted certificate", e.Subject)
}

// Peer returns the configuration for a connection to the memcached of another Pod of the cache.
//
// A Pod is addressed by its IP address, which no certificate names. The Secret identifies the cache: the other
// memcached must present a certificate with the public key of the mounted certificate, because only Pods with the
// Secret have the private key. While the Secret is rotated, the two Pods may have different versions of it for about 90
// seconds. So a certificate that a CA of ca.crt signed is accepted, too, if it is for servers and has a name that the
// mounted certificate has. The CA alone is not enough, because it may sign for a whole company.
//
// If memcached requests a client certificate, the mounted certificate is presented, but only if it is for clients and
// was signed by a CA of ca.crt. Memcached would refuse any other certificate, even if memcached does not require a
// certificate.
func (c Certificate) Peer() (*tls.Config, error) {
	secret, err := Read(c.Dir, certs.KeyCertificate, certs.KeyPrivateKey, certs.KeyClientCA)
	if err != nil {
		return nil, err
	}
	return PeerBy(secret)
}

// PeerBy returns the same configuration as Certificate.Peer, for a Secret with this content.
func PeerBy(secret map[string][]byte) (*tls.Config, error) {
	own, err := certs.Parse(secret, false)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(secret[certs.KeyCertificate], secret[certs.KeyPrivateKey])
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(secret[certs.KeyClientCA])
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection verifies
		VerifyConnection: func(state tls.ConnectionState) error {
			return verifyPeer(own.Leaf, state.PeerCertificates, roots)
		},
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if !isForClients(own.Leaf, pair.Certificate[1:], roots) {
				return &tls.Certificate{}, nil
			}
			return &pair, nil
		},
	}, nil
}

func verifyPeer(own *x509.Certificate, chain []*x509.Certificate, roots *x509.CertPool) error {
	leaf := chain[0]
	if bytes.Equal(leaf.RawSubjectPublicKeyInfo, own.RawSubjectPublicKeyInfo) {
		return nil
	}
	intermediates := x509.NewCertPool()
	for _, certificate := range chain[1:] {
		intermediates.AddCert(certificate)
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates})
	if err != nil || !shareName(leaf, own) {
		return &UnknownError{Subject: leaf.Subject.String()}
	}
	return nil
}

func shareName(a, b *x509.Certificate) bool {
	return slices.ContainsFunc(a.DNSNames, func(name string) bool { return slices.Contains(b.DNSNames, name) }) ||
		slices.ContainsFunc(a.IPAddresses, func(ip net.IP) bool { return slices.ContainsFunc(b.IPAddresses, ip.Equal) })
}

func isForClients(own *x509.Certificate, chain [][]byte, roots *x509.CertPool) bool {
	intermediates := x509.NewCertPool()
	for _, der := range chain {
		if certificate, err := x509.ParseCertificate(der); err == nil {
			intermediates.AddCert(certificate)
		}
	}
	_, err := own.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: intermediates, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return err == nil
}
