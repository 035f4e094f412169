package observe

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/certs"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// Secret is the state of a Secret that a Memcached names. Of its content it holds only what every client of the cache
// may know.
type Secret struct {
	Name string

	// Err is why the Secret cannot be read.
	Err error

	// Missing: the Secret does not exist.
	Missing bool

	// Problem is why memcached cannot use the Secret.
	Problem string

	// NotAfter is when the certificate expires; zero if there is none.
	NotAfter time.Time

	// Expired: the certificate has expired.
	Expired bool

	// Removed lists what was removed from the Secret, the oldest first: Pods that started before the removal still
	// accept it.
	Removed []Removal

	// Restored is when something that had been removed was added again.
	Restored time.Time
}

// Removal is a removed client CA or user, and when the operator noticed, by the clock of the API server.
type Removal struct {
	What  string
	Since time.Time
}

// Usable reports whether new Pods can start with the Secrets.
func (s Snapshot) Usable() bool { return s.TLS.usable() && s.Auth.usable() }

// Err returns why Secrets cannot be read.
func (s Snapshot) Err() error {
	var problems []error
	for _, secret := range []*Secret{s.TLS, s.Auth} {
		if secret != nil {
			problems = append(problems, secret.Err)
		}
	}
	return errors.Join(problems...)
}

func (s *Secret) usable() bool { return s == nil || s.Err == nil && !s.Missing && s.Problem == "" }

// UnwatchedSecretTypes are types of which a cluster may have thousands for other purposes. The operator does not
// watch them.
var UnwatchedSecretTypes = []corev1.SecretType{
	"helm.sh/release.v1", corev1.SecretTypeServiceAccountToken, corev1.SecretTypeBootstrapToken,
	corev1.SecretTypeDockercfg, corev1.SecretTypeDockerConfigJson,
}

// Secrets reads each version of a Secret once from the API server, and does not keep the content.
type Secrets struct {
	live client.Reader
	now  func() time.Time
	salt []byte // of this process alone, so that the remembered hash of a password is worthless elsewhere

	// serverTime is the time by the clock of the API server, which also sets the creation time of Pods.
	serverTime func() time.Time

	mu    sync.Mutex
	known map[use]record
	uses  uses
}

// record is what is remembered of a use.
type record struct {
	Secret

	// version is the version that was read; empty if it must be read again. watched is the last version that the watch
	// reported.
	version, watched string

	// accepted describes the client CAs or users, by certificate or by the hash of the user. former are the removed
	// ones.
	accepted map[string]string
	former   map[string]Removal
}

// NewSecrets reads Secrets with a reader that does not cache.
func NewSecrets(live client.Reader, serverTime func() time.Time) *Secrets {
	salt := make([]byte, sha256.Size)
	_, _ = rand.Read(salt) // It never fails.
	return &Secrets{
		live: live, now: time.Now, salt: salt, serverTime: serverTime, known: map[use]record{}, uses: newUses(),
	}
}

// Changed makes the next use read a Secret again, unless that version was read already. A deleted Secret has no
// version. Changed ignores Secrets that no Memcached uses, and returns whether there is a new version to read.
func (s *Secrets) Changed(key types.NamespacedName, version string) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, purpose := range []purpose{forTLS, forMutualTLS, forAuth} {
		known, ok := s.known[use{key, purpose}]
		if !ok {
			continue
		}
		known.watched = version
		if version == "" || known.version != version {
			known.version = ""
			changed = true
		}
		s.known[use{key, purpose}] = known
	}
	return changed
}

// certificate returns the state of the Secret of a Memcached's certificate; nil if the spec names none.
func (s *Secrets) certificate(ctx context.Context, mc *cachev1.Memcached) *Secret {
	if mc.Spec.TLS == nil {
		return nil
	}
	secret := s.read(ctx, useForTLS(mc), func(data map[string][]byte) record {
		return readCertificate(data, mc.Spec.TLS.AsksForCertificates())
	})
	secret.Expired = !secret.NotAfter.IsZero() && !s.now().Before(secret.NotAfter)
	return &secret
}

// users returns the state of the Secret of a Memcached's users; nil if the spec names none.
func (s *Secrets) users(ctx context.Context, mc *cachev1.Memcached) *Secret {
	if mc.Spec.Auth == nil {
		return nil
	}
	secret := s.read(ctx, useForAuth(mc), s.readUsers)
	return &secret
}

// read returns the remembered state of a Secret, and reads it from the API server if it is unknown or outdated.
func (s *Secrets) read(ctx context.Context, use use, judge func(map[string][]byte) record) Secret {
	before := s.recall(use)
	if before.version != "" {
		return before.Secret
	}
	object := &corev1.Secret{}
	now := before
	err := s.live.Get(ctx, use.NamespacedName, object)
	switch {
	case apierrors.IsNotFound(err): // Keep what was accepted, for when the Secret is created again.
		now.Secret = Secret{Name: use.Name, Missing: true}
	case err != nil:
		return Secret{Name: use.Name, Err: fmt.Errorf("read Secret %s: %w", use.NamespacedName, err)}
	default:
		now = judge(object.Data)
		if slices.Contains(UnwatchedSecretTypes, object.Type) {
			now = record{Secret: Secret{Problem: fmt.Sprintf("a Secret of the type %s is for something else: "+
				"make one of the type kubernetes.io/tls, kubernetes.io/basic-auth or Opaque", object.Type)}}
		}
		now.Name, now.version = use.Name, object.ResourceVersion
		now = s.compare(now, before)
	}
	s.keep(use, now)
	return now.Secret
}

// recall returns the remembered state of a Secret, and starts remembering it. From now on the watch invalidates it.
func (s *Secrets) recall(use use) record {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known[use]
	s.known[use] = known
	return known
}

// keep remembers what was read, unless the watch has reported another version meanwhile.
func (s *Secrets) keep(use use, now record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now.watched = s.known[use].watched
	if now.watched != "" && now.watched != now.version {
		now.version = ""
	}
	s.known[use] = now
}

// compare finds what was removed from a Secret. An invalid Secret is never loaded into memcached, so it removes
// nothing.
func (s *Secrets) compare(now, before record) record {
	now.Restored = before.Restored
	if now.Problem != "" {
		now.accepted, now.former = before.accepted, before.former
		now.Removed = sorted(now.former)
		return now
	}
	now.former = map[string]Removal{}
	for id, removal := range before.former {
		if now.accepted[id] != "" {
			now.Restored = s.serverTime()
			continue
		}
		now.former[id] = removal
	}
	for id, what := range before.accepted {
		if now.accepted[id] == "" {
			now.former[id] = Removal{What: what, Since: s.serverTime()}
		}
	}
	now.Removed = sorted(now.former)
	return now
}

func sorted(former map[string]Removal) []Removal {
	return slices.SortedFunc(maps.Values(former), func(a, b Removal) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.What, b.What))
	})
}

func readCertificate(data map[string][]byte, clientCA bool) record {
	parsed, err := certs.Parse(data, clientCA)
	if err != nil {
		return record{Secret: Secret{Problem: err.Error()}}
	}
	accepted := map[string]string{}
	for _, ca := range parsed.ClientCAs {
		accepted[string(ca.Raw)] = fmt.Sprintf("client CA %q of %s", ca.Subject, ca.NotBefore.UTC().Format(time.DateOnly))
	}
	return record{Secret: Secret{NotAfter: parsed.Leaf.NotAfter}, accepted: accepted}
}

func (s *Secrets) readUsers(data map[string][]byte) record {
	list, err := users.Parse(data)
	if err != nil {
		return record{Secret: Secret{Problem: err.Error()}}
	}
	accepted := map[string]string{}
	for _, user := range list {
		hash := hmac.New(sha256.New, s.salt)
		hash.Write([]byte(user.Name + ":" + user.Password))
		accepted[string(hash.Sum(nil))] = "a user or a password"
	}
	return record{accepted: accepted}
}

// TrimSecret keeps only the metadata that identifies a version.
func TrimSecret(object any) (any, error) {
	if secret, ok := object.(*metav1.PartialObjectMetadata); ok {
		secret.ObjectMeta = metav1.ObjectMeta{
			Name: secret.Name, Namespace: secret.Namespace, UID: secret.UID, ResourceVersion: secret.ResourceVersion,
		}
	}
	return object, nil
}
