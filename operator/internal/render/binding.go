package render

// The Secret of a binding.

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/certs"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// binding returns the Secret of a binding. It has the keys that the Service Binding specification names, and further
// keys about the cache. The Secret is not immutable, because its data changes with each rotation.
func binding(p plan.Plan) Object {
	secret := corev1ac.Secret(p.Binding.SecretName, p.Namespace).
		WithLabels(labelsWith(p.Name, p.CommonMetadata.Labels)).
		WithLabels(map[string]string{names.LabelBinding: "true"}).
		WithAnnotations(p.CommonMetadata.Annotations).
		WithOwnerReferences(owner(p)).
		WithType(cachev1.BindingSecretType).
		WithImmutable(false)
	if p.Binding.Versions != "" {
		secret.WithAnnotations(map[string]string{names.AnnotationBound: p.Binding.Versions})
	}
	for key, value := range map[string]string{
		"type": names.App,
		"host": p.Binding.Host, "port": p.Binding.Port,
		"endpoints": strings.Join(p.Binding.Endpoints, ","), "discovery": p.Binding.Discovery,
		users.KeyUsername: p.Binding.User.Name, users.KeyPassword: p.Binding.User.Password,
		certs.KeyClientCA: p.Binding.CA,
	} {
		if value != "" {
			secret.WithData(map[string][]byte{key: []byte(value)})
		}
	}
	return Object{
		GroupKind:     corev1.SchemeGroupVersion.WithKind("Secret").GroupKind(),
		Configuration: secret,
		Metadata:      secret.ObjectMetaApplyConfiguration,
		Kept:          p.Binding.Kept,
	}
}
