package observe

// The Certificate of a Memcached with an issuer.

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/certmanager"
)

// addCertificate adds the Certificate, even if the spec does not request it any more.
func (c Collector) addCertificate(ctx context.Context, mc *cachev1.Memcached, objects map[Key]client.Object) error {
	kind, _ := find(CertificateKind.GroupKind())
	return addObject(ctx, c.Cache, client.ObjectKeyFromObject(mc), kind, objects)
}

// Issuing returns what cert-manager reports about the Certificate; empty if it has reported nothing.
func (s Snapshot) Issuing() string {
	certificate, _ := s.Main(CertificateKind.GroupKind()).(*certmanager.Certificate)
	if certificate == nil {
		return ""
	}
	ready := meta.FindStatusCondition(certificate.Status.Conditions, "Ready")
	if ready == nil || ready.Status == metav1.ConditionTrue {
		return ""
	}
	return fmt.Sprintf("%s: %s", ready.Reason, ready.Message)
}
