package mounted

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"github.com/example-inc/memcached-operator/operator/internal/secrets/certs"
)

// Client returns the configuration for a connection to a server outside of the cache, with the Secret that is mounted
// at dir. The server must present a certificate for this name that a CA of the Secret's ca.crt signed. If the Secret
// has tls.crt and tls.key, they are the client's certificate.
func Client(dir, name string) (*tls.Config, error) {
	secret, err := Read(dir, certs.KeyCertificate, certs.KeyPrivateKey, certs.KeyClientCA)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: name, RootCAs: x509.NewCertPool()}
	if !config.RootCAs.AppendCertsFromPEM(secret[certs.KeyClientCA]) {
		return nil, fmt.Errorf("%s has no CA in %s: add the CA by which the servers are verified", dir, certs.KeyClientCA)
	}
	hasCertificate, hasKey := len(secret[certs.KeyCertificate]) > 0, len(secret[certs.KeyPrivateKey]) > 0
	switch {
	case hasCertificate != hasKey:
		return nil, fmt.Errorf("%s has only one of %s and %s: add the other, or remove it",
			dir, certs.KeyCertificate, certs.KeyPrivateKey)
	case hasCertificate:
		pair, err := tls.X509KeyPair(secret[certs.KeyCertificate], secret[certs.KeyPrivateKey])
		if err != nil {
			return nil, fmt.Errorf("%s: %s and %s are no key pair", dir, certs.KeyCertificate, certs.KeyPrivateKey)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
