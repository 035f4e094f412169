package plan

// The certificate that the operator requests from cert-manager.

import (
	"cmp"
	"fmt"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/certmanager"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Certificate is the certificate that the operator requests from cert-manager.
type Certificate struct {
	Spec certmanager.CertificateSpec

	// Unavailable is why the operator can't request the certificate; empty if it can.
	Unavailable string

	// Withheld is why the operator does not request this certificate although it could; empty if it does.
	Withheld string
}

const (
	serverAuth = "server auth"
	clientAuth = "client auth"

	// rotateAlways makes a new key for each certificate, because the Pods load both, the key and the certificate, without
	// a restart.
	rotateAlways = "Always"

	issuerKind = "Issuer"

	// mostForeseen limits how many slots the certificate names before they exist, because each TLS handshake sends all
	// names.
	mostForeseen = 64
)

// certificate returns the certificate to request; nil for a cache without spec.tls.issuerRef.
func (d Draft) certificate(slots int) *Certificate {
	tls := orZero(d.memcached.Spec.TLS)
	if tls.IssuerRef == nil {
		return nil
	}
	issuer := *tls.IssuerRef
	requested := &Certificate{Unavailable: d.defaults.NoCertificates, Spec: certmanager.CertificateSpec{
		SecretName: d.Pod.TLSSecret,
		DNSNames:   d.hosts(slots),
		Usages:     []string{serverAuth},
		PrivateKey: certmanager.PrivateKey{RotationPolicy: rotateAlways},
		IssuerRef: certmanager.IssuerRef{
			Name: issuer.Name, Kind: cmp.Or(issuer.Kind, issuerKind), Group: cmp.Or(issuer.Group, certmanager.Group),
		},
	}}
	if tls.RequestsCertificates() { // Each agent is also a client of other Pods, and needs a client certificate.
		requested.Spec.Usages = append(requested.Spec.Usages, clientAuth)
	}
	if d.current.UnownedSecret {
		requested.Withheld = unownedSecret(d.Pod.TLSSecret, d.memcached)
	}
	return requested
}

// hosts returns all names by which clients connect, with the usual domain of a cluster and without one. Shorter names
// are left out, because they have another meaning in other namespaces.
func (d Draft) hosts(slots int) []string {
	cache := d.memcached
	services := []string{cache.Name}
	if cache.Spec.Discovery != nil {
		services = append(services, names.DiscoveryService(cache.Name))
	}
	if cache.Spec.Slots != nil || d.record.Slots {
		services = append(services, "*."+names.SlotService(cache.Name))
	}
	if orZero(cache.Spec.Slots).Mode == cachev1.SlotsClusterIP {
		for number := range max(slots, foreseen(cache.Spec)) {
			services = append(services, names.SlotName(cache.Name, number))
		}
	}
	var hosts []string
	for _, service := range services {
		host := service + "." + cache.Namespace + ".svc"
		hosts = append(hosts, host, host+".cluster.local")
	}
	return hosts
}

// foreseen returns for how many slots the certificate has names, whether the slots exist yet or not. So a slot that
// autoscaling adds has its name in the certificate before clients begin to use the slot.
func foreseen(spec cachev1.MemcachedSpec) int {
	if !choosesSize(spec) {
		return 0
	}
	return min(int(spec.Autoscaling.Size.Max), mostForeseen)
}

// unownedSecret is the message if no certificate is requested because cert-manager would overwrite a Secret that the
// author of the Memcached may have no right to change.
func unownedSecret(secret string, mc *cachev1.Memcached) string {
	return fmt.Sprintf("Secret %q may belong to another owner: cert-manager did not write it for the Certificate %q. "+
		"The operator does not request this Certificate, because cert-manager would then overwrite the Secret. Fix: set "+
		"spec.tls.secretName to another name, delete the "+
		"Secret, or allow it: kubectl -n %s annotate secret %[1]s --overwrite %s=%[2]s",
		secret, mc.Name, mc.Namespace, certmanager.AnnotationCertificate)
}
