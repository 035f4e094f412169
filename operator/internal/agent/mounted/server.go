package mounted

import (
	"crypto/tls"
	"crypto/x509"

	"github.com/example-inc/memcached-operator/operator/internal/secrets/certs"
)

// Server returns the configuration for a server with the mounted certificate. The server reads the certificate again
// for each client, so a changed Secret takes effect with the next connection.
func (c Certificate) Server(require bool, minVersion uint16) *tls.Config {
	return &tls.Config{
		MinVersion: minVersion,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			secret, err := Read(c.Dir, certs.KeyCertificate, certs.KeyPrivateKey, certs.KeyClientCA)
			if err != nil {
				return nil, err
			}
			pair, err := tls.X509KeyPair(secret[certs.KeyCertificate], secret[certs.KeyPrivateKey])
			if err != nil {
				return nil, err
			}
			config := &tls.Config{MinVersion: minVersion, Certificates: []tls.Certificate{pair}}
			if c.ClientCA {
				config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
				config.ClientCAs.AppendCertsFromPEM(secret[certs.KeyClientCA])
			}
			if require {
				config.ClientAuth = tls.RequireAndVerifyClientCert
			}
			return config, nil
		},
	}
}
