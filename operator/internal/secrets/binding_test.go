package secrets

import (
	"strings"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestOnlyABindingKeepsAUser: a Memcached without a binding names the same Secret, and the operator keeps no user for
// that Memcached.
func TestOnlyABindingKeepsAUser(t *testing.T) {
	server := &apiServer{version: "1", data: map[string]string{"users": "ann:old\nbob:b\nann:new"}}
	secrets := NewMemory(server, time.Now)
	plain, bound := withSecrets("plain", "", "secret"), withSecrets("bound", "", "secret")
	bound.Spec.Binding = &cachev1.Binding{SecretName: "binding"}
	for range 2 {
		look(t, secrets, plain)
		look(t, secrets, bound)
	}
	if got := secrets.Users(t.Context(), plain); got.User.Name != "" || got.User.Password != "" || got.Version != "1" {
		t.Errorf("without a binding: %q, version %s", got.User.Password, got.Version)
	}
	if got := secrets.Users(t.Context(), bound); got.User.Name != "ann" || got.User.Password != "new" {
		t.Errorf("the binding has the user %s with the password %q", got.User.Name, got.User.Password)
	}
	if server.reads != 2 {
		t.Errorf("%d reads, want one for each use", server.reads)
	}

	server.becomes(secrets, "2", map[string]string{"users": "ann:newer"})
	if got := secrets.Users(t.Context(), bound); got.User.Password != "newer" || got.Version != "2" {
		t.Errorf("after a rotation: %q, version %s", got.User.Password, got.Version)
	}
	server.becomes(secrets, "3", map[string]string{"users": "none"})
	if got := secrets.Users(t.Context(), bound); got.Usable() || got.User.Password != "" {
		t.Errorf("of an invalid Secret, %q is kept", got.User.Password)
	}
}

func TestABindingHasTheCAOfTheServers(t *testing.T) {
	data := agenttest.NewCertificate(t, nil).Secret()
	data["ca.crt"] = "a CA"
	server := &apiServer{version: "1", data: data}
	secrets := NewMemory(server, time.Now)
	mc := withSecrets("cache", "secret", "")
	for name, want := range map[string]string{"": "", "binding": "a CA"} {
		if mc.Spec.Binding = nil; name != "" {
			mc.Spec.Binding = &cachev1.Binding{SecretName: name}
		}
		secrets.Follow(mc)
		if got := secrets.Certificate(t.Context(), mc); got.CA != want || strings.Contains(got.CA, "PRIVATE") {
			t.Errorf("binding %q: CA %q, want %q", name, got.CA, want)
		}
	}
}
