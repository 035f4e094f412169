package apply

import (
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// withoutLogin returns a configuration to hash. If it is the configuration of a Secret, the values of the user and the
// password are left out: a client that may see only metadata could find the password by trial, because it sees the
// hash. A new password still changes the hash, because the versions of the Secrets from which the values come are in an
// annotation.
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
