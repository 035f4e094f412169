package mounted

import "github.com/example-inc/memcached-operator/operator/internal/secrets/certs"

// Certificate is a mounted Secret with a certificate.
type Certificate struct {
	// Dir is the folder where the Secret is mounted.
	Dir string

	// ClientCA is whether memcached requests client certificates, and so loads the CAs of the Secret. Otherwise, the CAs
	// are not used.
	ClientCA bool
}

// Load reads the folder. It returns an error for content that memcached could not load.
func (c Certificate) Load() (*certs.Content, error) {
	secret, err := Read(c.Dir, certs.KeyCertificate, certs.KeyPrivateKey, certs.KeyClientCA)
	if err != nil {
		return nil, err
	}
	return certs.Parse(secret, c.ClientCA)
}
