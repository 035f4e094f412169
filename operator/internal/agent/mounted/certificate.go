package mounted

import "github.com/example-inc/memcached-operator/operator/internal/secrets/certs"

// Certificate is a mounted Secret with a certificate.
type Certificate struct {
	// Dir is the folder where the Secret is mounted.
	Dir string

	// ClientCA: memcached requests client certificates and loads the CAs of the Secret. Otherwise they are not used.
	ClientCA bool
}

// Load reads the folder. It rejects what memcached could not load.
func (c Certificate) Load() (*certs.Content, error) {
	secret, err := Read(c.Dir, certs.KeyCertificate, certs.KeyPrivateKey, certs.KeyClientCA)
	if err != nil {
		return nil, err
	}
	return certs.Parse(secret, c.ClientCA)
}
