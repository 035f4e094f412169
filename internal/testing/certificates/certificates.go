// Package certificates makes CAs and certificates for tests.
package certificates

import (
	"testing"

	"github.com/example-inc/memcached-operator/scripts/cluster/pki"
)

// NewAuthority makes a CA.
func NewAuthority(t testing.TB, name string) *pki.Authority {
	t.Helper()
	authority, err := pki.NewAuthority(name)
	if err != nil {
		t.Fatal(err)
	}
	return authority
}

// Issue makes a certificate that a CA signs: of a server if there are hosts, and of a client otherwise.
func Issue(t testing.TB, authority *pki.Authority, hosts ...string) pki.Pair {
	t.Helper()
	pair, err := authority.Issue(pki.Identity{User: "leaf", Hosts: hosts})
	if err != nil {
		t.Fatal(err)
	}
	return pair
}
