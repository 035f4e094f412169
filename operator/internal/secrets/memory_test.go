package secrets

import (
	"context"
	"errors"
	"fmt"
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

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// apiServer has one Secret.
type apiServer struct {
	client.Reader
	data    map[string]string
	version string
	err     error

	secretType corev1.SecretType
	reads      int

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
	secret.ResourceVersion, secret.Type, secret.Data = s.version, s.secretType, map[string][]byte{}
	for name, content := range s.data {
		secret.Data[name] = []byte(content)
	}
	if s.during != nil {
		s.during()
	}
	return nil
}

var secretKey = types.NamespacedName{Namespace: "team", Name: "secret"}

// becomes writes the Secret, and lets the watch report it.
func (s *apiServer) becomes(secrets *Memory, version string, data map[string]string) {
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

func usersOf(t *testing.T, secrets *Memory) *State {
	t.Helper()
	secret := secrets.Users(t.Context(), withAuth())
	if secret.Err != nil {
		t.Fatal(secret.Err)
	}
	return secret
}

func certificateOf(t *testing.T, secrets *Memory, clientAuth cachev1.ClientAuth) *State {
	t.Helper()
	secret := secrets.Certificate(t.Context(), withTLS(clientAuth))
	if secret.Err != nil {
		t.Fatal(secret.Err)
	}
	return secret
}

func TestASecretIsReadOnceForEachVersion(t *testing.T) {
	server := &apiServer{}
	secrets := NewMemory(server, time.Now)
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
	read(1, "when the watch reports the version that was read")
	secrets.Changed(types.NamespacedName{Namespace: "other", Name: "secret"}, "7")
	read(1, "when another Secret changes")
	server.becomes(secrets, "2", map[string]string{"users": "ann:a\nbob:b"})
	read(2, "when it changes")
	server.during = func() { server.becomes(secrets, "4", server.data); server.during = nil }
	server.becomes(secrets, "3", server.data)
	read(4, "when it changes while it is read")
	secrets.Changed(secretKey, "")
	read(5, "when it was deleted, and the watch missed more than that")
}

func TestASecretOfWhichNothingIsKnownIsNoGoodSecret(t *testing.T) {
	server := &apiServer{err: errors.New("no answer")}
	secrets := NewMemory(server, time.Now)
	got := secrets.Users(t.Context(), withAuth())
	if got.Usable() || !strings.Contains(fmt.Sprint(got.Err), "team/secret: no answer") {
		t.Errorf("one that can't be read is taken for %+v", got)
	}
	server.err = nil
	if got = usersOf(t, secrets); !got.Missing || got.Usable() {
		t.Errorf("a missing Secret is taken for %+v", got)
	}
	server.becomes(secrets, "1", map[string]string{"users": "ann"})
	if got = usersOf(t, secrets); got.Missing || got.Usable() || got.Problem != "users, line 1: no colon: write user:password" {
		t.Errorf("a malformed one is taken for %+v", got)
	}
	server.becomes(secrets, "2", map[string]string{"users": "ann:a"})
	if got := usersOf(t, secrets); !got.Usable() {
		t.Errorf("a good one is taken for %+v", got)
	}
}

func TestARemovalIsReportedUntilItIsReverted(t *testing.T) {
	server := &apiServer{}
	secrets := NewMemory(server, time.Now)
	at := func(hour int) time.Time { return time.Date(2030, 1, 1, hour, 0, 0, 0, time.UTC) }
	const aUser = "a user or a password"
	tests := []struct {
		data    map[string]string
		removed []Removal
		noticed []time.Time
	}{
		{data: map[string]string{"users": "ann:a"}},
		{data: map[string]string{"users": "bob:b\nann:a"}},
		{data: map[string]string{"users": "malformed"}},
		{data: nil},
		{data: map[string]string{"users": "ann:a\nbob:b\ncid:c"}},
		{data: map[string]string{"username": "bob", "password": "b"}, removed: []Removal{{aUser, at(5)}, {aUser, at(5)}}, noticed: []time.Time{at(5)}},
		{data: nil, removed: []Removal{{aUser, at(5)}, {aUser, at(5)}}, noticed: []time.Time{at(5)}},
		{data: map[string]string{"users": "dan:d"}, removed: []Removal{{aUser, at(5)}, {aUser, at(5)}, {aUser, at(7)}}, noticed: []time.Time{at(5), at(7)}},
		{data: map[string]string{"users": "ann:a"}, removed: []Removal{{aUser, at(5)}, {aUser, at(7)}, {aUser, at(8)}}, noticed: []time.Time{at(5), at(7), at(8)}},
	}
	for i, tc := range tests {
		secrets.serverTime = func() time.Time { return at(i) }               // The times of Pods are from this clock.
		secrets.now = func() time.Time { return at(i).Add(-24 * time.Hour) } // The clock of the operator is late.
		server.becomes(secrets, fmt.Sprint(i+1), tc.data)
		got := usersOf(t, secrets)
		if diff := cmp.Diff(tc.removed, got.Removed); diff != "" {
			t.Errorf("%q: removed (-want +got):\n%s", tc.data, diff)
		}
		if diff := cmp.Diff(tc.noticed, got.Noticed); diff != "" {
			t.Errorf("%q: noticed (-want +got):\n%s", tc.data, diff)
		}
		for id := range secrets.known[use{secretKey, forAuth, false}].accepted {
			if strings.Contains(id, "ann") || strings.Contains(id, "bob") {
				t.Errorf("%q is kept", id)
			}
		}
	}
}

func TestCertificatesAndClientCAs(t *testing.T) {
	server := &apiServer{}
	secrets := NewMemory(server, time.Now)
	one, other := agenttest.NewCertificate(t, nil), agenttest.NewCertificate(t, nil)
	certificateWith := func(cas ...*agenttest.Certificate) map[string]string {
		data := one.Secret()
		for _, ca := range cas {
			data["ca.crt"] += ca.PEM
		}
		return data
	}
	server.becomes(secrets, "1", certificateWith())
	if got := certificateOf(t, secrets, cachev1.ClientAuthNone); !got.Usable() || !got.NotAfter.Equal(one.Parsed.NotAfter) || got.Expired {
		t.Errorf("got %+v", got)
	}
	if got := certificateOf(t, secrets, cachev1.ClientAuthNone); !got.Covers("memcached.test") || got.Covers("other.test") {
		t.Errorf("the certificate is for %q", got.DNSNames)
	}
	if got := certificateOf(t, secrets, cachev1.ClientAuthRequest); got.Usable() || !strings.Contains(got.Problem, "has no ca.crt") {
		t.Errorf("without CAs no client can be verified: %+v", got)
	}
	server.becomes(secrets, "2", certificateWith(one, other))
	if got := certificateOf(t, secrets, cachev1.ClientAuthRequire); !got.Usable() || len(got.Removed) > 0 {
		t.Errorf("got %+v", got)
	}
	server.becomes(secrets, "3", certificateWith())
	if got := certificateOf(t, secrets, cachev1.ClientAuthRequire); got.Usable() || len(got.Removed) > 0 {
		t.Errorf("of a Secret that can't be used, nothing gets to memcached: %+v", got)
	}
	server.becomes(secrets, "4", certificateWith(one))
	removed := certificateOf(t, secrets, cachev1.ClientAuthRequire).Removed
	if len(removed) != 1 || !strings.HasPrefix(removed[0].What, fmt.Sprintf("client CA %q of 2", other.Parsed.Subject)) {
		t.Errorf("removed %v", removed)
	}
	if got := certificateOf(t, secrets, "").Removed; len(got) > 0 {
		t.Errorf("without client certificates, %v is removed", got)
	}
	secrets.now = func() time.Time { return one.Parsed.NotAfter }
	if got := certificateOf(t, secrets, ""); !got.Expired || !got.Usable() {
		t.Errorf("at its end, the certificate is %+v", got)
	}
}

func TestASecretOfAnUnwatchedTypeIsRefused(t *testing.T) {
	server := &apiServer{secretType: corev1.SecretTypeDockerConfigJson}
	secrets := NewMemory(server, time.Now)
	server.becomes(secrets, "1", map[string]string{"users": "ann:a"})
	if got := usersOf(t, secrets); !strings.Contains(got.Problem, "type kubernetes.io/dockerconfigjson is for something else") {
		t.Errorf("got %+v", got)
	}
}
