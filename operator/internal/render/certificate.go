package render

import (
	"github.com/example-inc/memcached-operator/operator/internal/certmanager"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// certificate requests a certificate for the Pods from cert-manager.
func certificate(p plan.Plan) Object {
	requested := certmanager.NewCertificate(p.Name, p.Namespace, p.Certificate.Spec)
	requested.WithLabels(labelsWith(p.Name, p.CommonMetadata.Labels)).
		WithAnnotations(p.CommonMetadata.Annotations).
		WithOwnerReferences(owner(p))
	return Object{
		GroupKind:     certmanager.Kind.GroupKind(),
		Configuration: requested,
		Metadata:      requested.ObjectMetaApplyConfiguration,
		Withheld:      p.Certificate.Withheld,
	}
}
