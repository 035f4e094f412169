package secrets

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func withSecrets(name, tls, auth string) *cachev1.Memcached {
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
	if tls != "" {
		mc.Spec.TLS = &cachev1.TLS{SecretName: tls}
	}
	if auth != "" {
		mc.Spec.Auth = &cachev1.Auth{SecretName: auth}
	}
	return mc
}

// look does what a reconciliation does with the Secrets of a Memcached.
func look(t *testing.T, secrets *Memory, mc *cachev1.Memcached) {
	t.Helper()
	secrets.Follow(mc)
	secrets.Certificate(t.Context(), mc)
	secrets.Users(t.Context(), mc)
}

func TestNothingIsKeptOfSecretsThatNoMemcachedUses(t *testing.T) {
	secrets := NewMemory(&apiServer{version: "1", data: map[string]string{"users": "ann:a"}}, time.Now)
	for i := range 5000 {
		mc := withSecrets(fmt.Sprint("cache-", i), fmt.Sprint("tls-", i), fmt.Sprint("users-", i))
		look(t, secrets, mc)
		mc.Spec.TLS.ClientAuth = cachev1.ClientAuthRequire
		look(t, secrets, mc)
		if len(secrets.known) != 2 {
			t.Fatalf("%d records for two Secrets", len(secrets.known))
		}
		secrets.Forget(client.ObjectKeyFromObject(mc))
	}
	if kept := len(secrets.known) + len(secrets.uses.of) + len(secrets.uses.number); kept > 0 {
		t.Errorf("%d records are kept: %+v", kept, secrets.uses)
	}
}

func TestASecretIsKnownForAsLongAsAMemcachedUsesIt(t *testing.T) {
	server := &apiServer{version: "1", data: map[string]string{"users": "ann:a\nbob:b"}}
	secrets := NewMemory(server, time.Now)
	one, other := withSecrets("one", "", "secret"), withSecrets("other", "", "secret")
	look(t, secrets, one)
	look(t, secrets, one)
	look(t, secrets, other)
	secrets.Forget(client.ObjectKeyFromObject(one))
	secrets.Forget(client.ObjectKeyFromObject(one))
	look(t, secrets, other)
	if server.reads != 1 {
		t.Errorf("the Secret was read %d times", server.reads)
	}
	server.becomes(secrets, "2", map[string]string{"users": "ann:a"})
	secrets.Follow(other)
	if got := secrets.Users(t.Context(), other); len(got.Removed) != 1 {
		t.Errorf("the removal is not reported: %+v", got)
	}
	look(t, secrets, withSecrets("other", "", ""))
	if len(secrets.known) > 0 {
		t.Error("the Secret is known although no Memcached names it any more")
	}
}
