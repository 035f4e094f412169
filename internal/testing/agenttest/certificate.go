package agenttest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"
)

// Certificate is a certificate with its key, as PEM.
type Certificate struct {
	Parsed   *x509.Certificate
	PEM, Key string

	signer *ecdsa.PrivateKey
}

// NewCertificate creates a certificate for 127.0.0.1, signed by a CA, or self-signed without one. The certificate can
// also serve as a CA.
func NewCertificate(t testing.TB, ca *Certificate) *Certificate {
	t.Helper()
	return NewCertificateWith(t, ca, func(*x509.Certificate) {})
}

// NewCertificateWith does the same as NewCertificate, and lets the test change the fields of the certificate before it
// is signed.
func NewCertificateWith(t testing.TB, ca *Certificate, change func(*x509.Certificate)) *Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	check(t, err)
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: serial.String()}, DNSNames: []string{"memcached.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	change(template)
	parent, signer := template, key
	if ca != nil {
		parent, signer = ca.Parsed, ca.signer
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	check(t, err)
	parsed, err := x509.ParseCertificate(der)
	check(t, err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	check(t, err)
	return &Certificate{
		Parsed: parsed, signer: key,
		PEM: block(t, "CERTIFICATE", der), Key: block(t, "EC PRIVATE KEY", keyDER),
	}
}

// Secret returns the data of a Secret of the type kubernetes.io/tls with the certificate.
func (c *Certificate) Secret() map[string]string {
	return map[string]string{"tls.crt": c.PEM, "tls.key": c.Key}
}

func block(t testing.TB, kind string, content []byte) string {
	t.Helper()
	var out bytes.Buffer
	check(t, pem.Encode(&out, &pem.Block{Type: kind, Bytes: content}))
	return out.String()
}
