package secrets

// Checks whether the certificate names a host.

import (
	"crypto/x509"
	"strings"
)

// Covers reports whether clients that verify the certificate accept it for a host of the form NAME.NAMESPACE.svc.
// Clients may also connect to the host by a shorter name, or by a longer name that ends with the domain of the cluster.
// So a certificate with these names covers the host, too.
func (s *State) Covers(host string) bool {
	certificate := x509.Certificate{}
	for _, name := range s.DNSNames {
		if short, _, isLonger := strings.Cut(name, ".svc."); isLonger {
			name = short + ".svc"
		}
		certificate.DNSNames = append(certificate.DNSNames, name)
	}
	for strings.Contains(host, ".") {
		if certificate.VerifyHostname(host) == nil {
			return true
		}
		host = host[:strings.LastIndex(host, ".")]
	}
	return certificate.VerifyHostname(host) == nil
}
