package status

// The Certificate that spec.tls.issuerRef requests, and the wait for cert-manager.

import (
	"fmt"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// certificateIsAvailable finds the reason why the operator can't request the certificate.
func certificateIsAvailable(in Input) (verdict, bool) {
	requested := in.Plan.Certificate
	if requested == nil || requested.Unavailable == "" {
		return verdict{}, false
	}
	message := fmt.Sprintf("spec.tls.issuerRef %q %s, or remove spec.tls.issuerRef and create the Secret %q",
		requested.Spec.IssuerRef.Name, requested.Unavailable, requested.Spec.SecretName)
	return verdict{stalled, cachev1.ReasonCertificateUnavailable, message}, true
}

// unissued returns the message that the Secret waits for cert-manager. It returns nil if the Certificate could not be
// applied: other checks report why.
func (in Input) unissued() []string {
	applied, reported := in.Report.Of(observe.CertificateKind.GroupKind())
	if reported && !applied.IsMade() {
		return nil
	}
	requested := in.Plan.Certificate.Spec
	message := fmt.Sprintf("the Secret %q does not exist yet: "+
		"cert-manager has to create it, with the %s %q of spec.tls.issuerRef",
		requested.SecretName, requested.IssuerRef.Kind, requested.IssuerRef.Name)
	if issuing := in.Snapshot.Issuing(); issuing != "" {
		message += fmt.Sprintf(" (Certificate %q: %s)", in.Memcached.Name, issuing)
	}
	return []string{message}
}

// setCertificate reports the name of the Certificate, so that the operator finds it when the spec does not request it
// any more.
func setCertificate(status *cachev1.MemcachedStatus, in Input) {
	requested := in.Plan.Certificate
	switch {
	case requested != nil && requested.Unavailable == "", in.Snapshot.Main(observe.CertificateKind.GroupKind()) != nil:
		status.Certificate = in.Memcached.Name
	case in.isPlanned() && in.NoCertificates == "":
		status.Certificate = ""
	}
}
