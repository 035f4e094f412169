package status

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/certmanager"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/secrets"
)

func TestTheStatusSaysWhatTheCertificateOfAnIssuerWaitsFor(t *testing.T) {
	requested := func(in *Input) {
		in.Plan.Certificate = &plan.Certificate{Spec: certmanager.CertificateSpec{
			SecretName: "cache-tls", IssuerRef: certmanager.IssuerRef{Name: "ca", Kind: "ClusterIssuer"},
		}}
	}
	unissued := func(in *Input) {
		requested(in)
		in.Snapshot.TLS = &secrets.State{Name: "cache-tls", Missing: true}
	}
	tests := map[string]struct {
		change      func(*Input)
		reason      string
		message     string // its beginning
		certificate string
	}{
		"without an issuer": {func(*Input) {}, cachev1.ReasonAllPodsReady, "", ""},
		"issued":            {requested, cachev1.ReasonAllPodsReady, "", "cache"},
		"cert-manager has reported nothing": {unissued, cachev1.ReasonSecretNotFound,
			`the Secret "cache-tls" does not exist yet: cert-manager has to create it, with the ClusterIssuer "ca" of spec.tls.issuerRef. `, "cache"},
		"cert-manager has reported why": {func(in *Input) {
			unissued(in)
			in.Snapshot.Objects[observe.Key{GroupKind: observe.CertificateKind.GroupKind(), Name: "cache"}] = &certmanager.Certificate{
				Status: certmanager.CertificateStatus{Conditions: []metav1.Condition{{
					Type: "Ready", Status: metav1.ConditionFalse, Reason: "DoesNotExist", Message: "Issuing",
				}}},
			}
		}, cachev1.ReasonSecretNotFound, `the Secret "cache-tls" does not exist yet: cert-manager has to create it, with the ClusterIssuer ` +
			`"ca" of spec.tls.issuerRef (Certificate "cache": DoesNotExist: Issuing). `, "cache"},
		"the Certificate belongs to others": {func(in *Input) {
			unissued(in)
			in.Report = append(in.Report, apply.Outcome{
				GroupKind: observe.CertificateKind.GroupKind(), Result: apply.NotOwned, Why: "it belongs to others",
			})
		}, cachev1.ReasonOwnershipConflict, "it belongs to others", "cache"},
		"there is no cert-manager": {func(in *Input) {
			unissued(in)
			in.Plan.Certificate.Unavailable, in.NoCertificates = "needs cert-manager: install it", "needs cert-manager: install it"
		}, cachev1.ReasonCertificateUnavailable,
			`spec.tls.issuerRef "ca" needs cert-manager: install it, or remove spec.tls.issuerRef and create the Secret "cache-tls"`, ""},
		"there is no cert-manager any more, and no issuer": {func(in *Input) {
			in.Memcached.Status.Certificate, in.NoCertificates = "cache", "needs rights"
		}, cachev1.ReasonAllPodsReady, "", "cache"},
		"an issuer that was removed": {func(in *Input) { in.Memcached.Status.Certificate = "cache" }, cachev1.ReasonAllPodsReady, "", ""},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			in := rolledOut()
			tc.change(&in)
			now := Evaluate(in)
			ready := meta.FindStatusCondition(now.Conditions, cachev1.ConditionReady)
			if ready.Reason != tc.reason || !strings.HasPrefix(ready.Message, tc.message) {
				t.Errorf("%s: %s", ready.Reason, ready.Message)
			}
			if now.Certificate != tc.certificate {
				t.Errorf("status.certificate %q, want %q", now.Certificate, tc.certificate)
			}
		})
	}
}
