package pki

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
)

func TestIssuedCertificates(t *testing.T) {
	authority, err := NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := NewAuthority("stranger")
	if err != nil {
		t.Fatal(err)
	}
	server := Identity{User: "kube-apiserver", Hosts: []string{"localhost", "10.96.0.1"}}
	client := Identity{User: "admin", Groups: []string{"system:masters"}}
	const asServer, asClient = x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth
	tests := map[string]struct {
		id    Identity
		root  *Authority
		host  string
		usage x509.ExtKeyUsage
		valid bool
	}{
		"a server is known by its DNS name":              {server, authority, "localhost", asServer, true},
		"a server is known by its address":               {server, authority, "10.96.0.1", asServer, true},
		"a server is not known by another name":          {server, authority, "example.com", asServer, false},
		"a server's certificate is no client's":          {server, authority, "", asClient, false},
		"a client is accepted as a client":               {client, authority, "", asClient, true},
		"a client's certificate is no server's":          {client, authority, "", asServer, false},
		"another authority's certificate is not trusted": {client, stranger, "", asClient, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pair, err := authority.Issue(tc.id)
			if err != nil {
				t.Fatal(err)
			}
			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM(tc.root.Cert)
			_, err = leaf(t, pair).Verify(x509.VerifyOptions{
				Roots: roots, DNSName: tc.host, KeyUsages: []x509.ExtKeyUsage{tc.usage},
			})
			if (err == nil) != tc.valid {
				t.Errorf("Verify() = %v, want valid: %t", err, tc.valid)
			}
		})
	}
}

func leaf(t *testing.T, pair Pair) *x509.Certificate {
	t.Helper()
	loaded, err := tls.X509KeyPair(pair.Cert, pair.Key) // also proves that key and certificate match
	if err != nil {
		t.Fatal(err)
	}
	return loaded.Leaf
}
