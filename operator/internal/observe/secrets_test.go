package observe

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/agent/agenttest"
)

// apiServer holds one Secret.
type apiServer struct {
	client.Reader
	data    map[string]string
	version string
	err     error
	reads   int

	// during is called while a Secret is read.
	during func()
}

func (s *apiServer) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	s.reads++
	if s.err != nil {
		return s.err
	}
	if s.data == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
	}
	secret := object.(*corev1.Secret)
	secret.ResourceVersion, secret.Data = s.version, map[string][]byte{}
	for name, content := range s.data {
		secret.Data[name] = []byte(content)
	}
	if s.during != nil {
		s.during()
	}
	return nil
}

var secretKey = types.NamespacedName{Namespace: "team", Name: "secret"}

// becomes writes the Secret, and has the watch tell of it.
func (s *apiServer) becomes(secrets *Secrets, version string, data map[string]string) {
	s.version, s.data = version, data
	secrets.Changed(secretKey, version)
}

func withAuth() *cachev1.Memcached {
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "cache"}}
	mc.Spec.Auth = &cachev1.Auth{SecretName: "secret"}
	return mc
}

func withTLS(clientAuth cachev1.ClientAuth) *cachev1.Memcached {
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "cache"}}
	mc.Spec.TLS = &cachev1.TLS{SecretName: "secret", ClientAuth: clientAuth}
	return mc
}

func usersOf(t *testing.T, secrets *Secrets) *Secret {
	t.Helper()
	secret, err := secrets.users(t.Context(), withAuth())
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func certificateOf(t *testing.T, secrets *Secrets, clientAuth cachev1.ClientAuth) *Secret {
	t.Helper()
	secret, err := secrets.certificate(t.Context(), withTLS(clientAuth))
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestASecretIsReadOnceForEachVersion(t *testing.T) {
	server := &apiServer{}
	secrets := NewSecrets(server)
	server.becomes(secrets, "1", map[string]string{"users": "ann:a"})
	read := func(want int, when string) {
		t.Helper()
		usersOf(t, secrets)
		usersOf(t, secrets)
		if server.reads != want {
			t.Errorf("%s: %d reads, want %d", when, server.reads, want)
		}
	}
	read(1, "at first")
	secrets.Changed(secretKey, "1")
	read(1, "when the watch tells of the version that was read")
	secrets.Changed(types.NamespacedName{Namespace: "other", Name: "secret"}, "7")
	read(1, "when another Secret changes")
	server.becomes(secrets, "2", map[string]string{"users": "ann:a\nbob:b"})
	read(2, "when it changes")
	server.during = func() { server.becomes(secrets, "4", server.data); server.during = nil }
	server.becomes(secrets, "3", server.data)
	read(4, "when it changes while it is read")
}

func TestASecretOfWhichNothingIsKnownIsNoGoodSecret(t *testing.T) {
	server := &apiServer{err: errors.New("no answer")}
	secrets := NewSecrets(server)
	if _, err := secrets.users(t.Context(), withAuth()); err == nil || !strings.Contains(err.Error(), "team/secret: no answer") {
		t.Errorf("error %v", err)
	}
	server.err = nil
	if got := usersOf(t, secrets); !got.Missing || got.usable() {
		t.Errorf("a Secret that is not there is taken for %+v", got)
	}
	server.becomes(secrets, "1", map[string]string{"users": "ann"})
	if got := usersOf(t, secrets); got.Missing || got.usable() || got.Problem != "users, line 1: no colon: write user:password" {
		t.Errorf("a malformed one is taken for %+v", got)
	}
	server.becomes(secrets, "2", map[string]string{"users": "ann:a"})
	if got := usersOf(t, secrets); !got.usable() {
		t.Errorf("a good one is taken for %+v", got)
	}
}

func TestUsersWhoAreRemovedAreToldOf(t *testing.T) {
	server := &apiServer{}
	secrets := NewSecrets(server)
	now := time.Now()
	secrets.now = func() time.Time { return now }
	tests := []struct {
		data map[string]string
		want string
	}{
		{map[string]string{"users": "ann:a"}, ""},
		{map[string]string{"users": "bob:b\nann:a"}, ""},
		{map[string]string{"users": "malformed"}, ""},
		{nil, ""},
		{map[string]string{"users": "ann:a\nbob:b"}, ""},
		{map[string]string{"username": "bob", "password": "b"}, "a user or a password"},
	}
	for i, tc := range tests {
		server.becomes(secrets, time.Duration(i).String(), tc.data)
		got := usersOf(t, secrets)
		if got.Removed != tc.want || (got.Removed != "" && !got.RemovedSince.Equal(now)) {
			t.Errorf("%q: removed %q since %s, want %q", tc.data, got.Removed, got.RemovedSince, tc.want)
		}
		for id := range got.accepted {
			if strings.Contains(id, "ann") || strings.Contains(id, "bob") {
				t.Errorf("%q is kept", id)
			}
		}
	}
}

func TestCertificatesAndClientCAs(t *testing.T) {
	server := &apiServer{}
	secrets := NewSecrets(server)
	one, other := agenttest.NewCertificate(t, nil), agenttest.NewCertificate(t, nil)
	certificateWith := func(cas ...*agenttest.Certificate) map[string]string {
		data := one.Secret()
		for _, ca := range cas {
			data["ca.crt"] += ca.PEM
		}
		return data
	}
	server.becomes(secrets, "1", certificateWith())
	if got := certificateOf(t, secrets, cachev1.ClientAuthNone); !got.usable() || !got.NotAfter.Equal(one.Parsed.NotAfter) || got.Expired {
		t.Errorf("got %+v", got)
	}
	if got := certificateOf(t, secrets, cachev1.ClientAuthRequest); got.usable() || !strings.Contains(got.Problem, "lacks ca.crt") {
		t.Errorf("without CAs nobody can be checked: %+v", got)
	}
	server.becomes(secrets, "2", certificateWith(one, other))
	if got := certificateOf(t, secrets, cachev1.ClientAuthRequire); !got.usable() || got.Removed != "" {
		t.Errorf("got %+v", got)
	}
	server.becomes(secrets, "3", certificateWith(one))
	want := `client CA "` + other.Parsed.Subject.String() + `"`
	if diff := cmp.Diff(want, certificateOf(t, secrets, cachev1.ClientAuthRequire).Removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	if got := certificateOf(t, secrets, "").Removed; got != "" {
		t.Errorf("where nobody asks for certificates, %s is removed", got)
	}
	secrets.now = func() time.Time { return one.Parsed.NotAfter }
	if got := certificateOf(t, secrets, ""); !got.Expired || !got.usable() {
		t.Errorf("at its end, the certificate is %+v", got)
	}
}
