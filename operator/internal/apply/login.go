package apply

import (
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// withoutLogin returns a configuration to hash. Of a Secret it leaves out the values of the user and the password,
// because whoever sees only metadata could try passwords by the hash. The versions of the Secrets that they come from
// are in an annotation.
func withoutLogin(configuration runtime.ApplyConfiguration) runtime.ApplyConfiguration {
	secret, ok := configuration.(*corev1ac.SecretApplyConfiguration)
	if !ok {
		return configuration
	}
	public := *secret
	public.Data = maps.Clone(secret.Data)
	for _, key := range []string{users.KeyUsername, users.KeyPassword} {
		if _, set := public.Data[key]; set {
			public.Data[key] = nil
		}
	}
	return &public
}
