// Package pki makes certificates for a local cluster and for tests: one authority, and identities signed by it.
package pki

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"time"
)

// A certificate is valid for longer than any local cluster runs, and from before it was made, in case the clock is set
// back.
const (
	lifetime  = 10 * 365 * 24 * time.Hour
	backdated = time.Hour
)

// Pair is a certificate and its private key, both as PEM.
type Pair struct {
	Cert, Key []byte
}

// Authority signs the certificates of one cluster.
type Authority struct {
	Pair
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Identity is the subject of a certificate. With Hosts, which are names or addresses, the certificate is for a server;
// without Hosts, it is for a client.
type Identity struct {
	User   string
	Groups []string
	Hosts  []string

	// NotAfter is when the certificate expires; zero means that the certificate outlives every local cluster.
	NotAfter time.Time
}

// NewAuthority makes an authority with its own key.
func NewAuthority(name string) (*Authority, error) {
	template := newTemplate(Identity{User: name})
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage |= x509.KeyUsageCertSign
	authority := &Authority{cert: template}
	var err error
	if authority.key, err = newKey(); err != nil {
		return nil, err
	}
	// The certificates that the authority signs name its key by this id. Python 3.13 trusts no certificate without it.
	public, err := authority.key.PublicKey.Bytes()
	if err != nil {
		return nil, err
	}
	id := sha256.Sum256(public)
	template.SubjectKeyId = id[:20]
	authority.Pair, err = authority.sign(template, authority.key)
	return authority, err
}

// Issue signs a certificate for an identity.
func (a *Authority) Issue(id Identity) (Pair, error) {
	template := newTemplate(id)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(id.Hosts) > 0 {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	for _, host := range id.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	key, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	return a.sign(template, key)
}

func (a *Authority) sign(template *x509.Certificate, key *ecdsa.PrivateKey) (Pair, error) {
	certificate, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return Pair{}, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}, nil
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

// newTemplate sets no serial number, because CreateCertificate then makes a random one.
func newTemplate(id Identity) *x509.Certificate {
	return &x509.Certificate{
		Subject:   pkix.Name{CommonName: id.User, Organization: id.Groups},
		NotBefore: time.Now().Add(-backdated),
		NotAfter:  cmp.Or(id.NotAfter, time.Now().Add(lifetime)),
		KeyUsage:  x509.KeyUsageDigitalSignature,
	}
}
