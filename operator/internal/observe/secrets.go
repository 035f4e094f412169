package observe

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
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
	"github.com/example-inc/memcached-operator/operator/internal/agent/certs"
	"github.com/example-inc/memcached-operator/operator/internal/agent/users"
)

// Secret is what is known of a Secret that a Memcached names. It holds nothing of the content but what everybody may
// know who connects to the cache.
type Secret struct {
	Name string

	// Missing says that there is none.
	Missing bool

	// Problem says why memcached could not use it.
	Problem string

	// NotAfter is when the certificate ends; zero where there is none.
	NotAfter time.Time

	// Expired says that it has ended.
	Expired bool

	// Removed says what it does not hold any more, and since when: nodes that were started before still accept it.
	Removed      string
	RemovedSince time.Time

	// resourceVersion is the one that was read; empty where it is to be read again. Watched is the last that a watch told
	// of.
	resourceVersion, watched string

	lacksClientCA bool

	// accepted are the client CAs by their subjects, or the users. Its keys tell nothing.
	accepted map[string]string
}

// Usable tells whether new nodes could start with what the Secrets hold.
func (s Snapshot) Usable() bool {
	return s.TLS.usable() && s.Auth.usable()
}

func (s *Secret) usable() bool { return s == nil || !s.Missing && s.Problem == "" }

// Secrets reads Secrets live, once for each of their versions, and forgets what they hold.
type Secrets struct {
	live client.Reader
	now  func() time.Time
	salt []byte // of this process alone: what is kept of a password is of no use to anybody

	mu    sync.Mutex
	known map[string]Secret // by what for, namespace and name
}

// NewSecrets reads Secrets by a reader that is no cache.
func NewSecrets(live client.Reader) *Secrets {
	salt := make([]byte, sha256.Size)
	_, _ = rand.Read(salt) // It never fails.
	return &Secrets{live: live, now: time.Now, salt: salt, known: map[string]Secret{}}
}

// SecretsOf names the Secrets that a Memcached depends on.
func SecretsOf(mc *cachev1.Memcached) []string {
	var names []string
	if mc.Spec.TLS != nil {
		names = append(names, mc.Spec.TLS.SecretName)
	}
	if mc.Spec.Auth != nil && !slices.Contains(names, mc.Spec.Auth.SecretName) {
		names = append(names, mc.Spec.Auth.SecretName)
	}
	return names
}

// Purposes of a Secret.
const (
	forTLS  = "tls"
	forAuth = "auth"
)

// Changed has a Secret read again when it is needed next, unless it is of the version that was read. Other Secrets than
// those that were asked for are passed over. It returns whether there is something new to read.
func (s *Secrets) Changed(key types.NamespacedName, resourceVersion string) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, purpose := range []string{forTLS, forAuth} {
		id := purpose + " " + key.String()
		if known, ok := s.known[id]; ok {
			if known.watched = resourceVersion; known.resourceVersion != resourceVersion {
				known.resourceVersion = ""
				changed = true
			}
			s.known[id] = known
		}
	}
	return changed
}

// certificate tells of the Secret of a Memcached's certificate; nil where the spec names none.
func (s *Secrets) certificate(ctx context.Context, mc *cachev1.Memcached) (*Secret, error) {
	if mc.Spec.TLS == nil {
		return nil, nil
	}
	secret, err := s.read(ctx, forTLS, mc.Namespace, mc.Spec.TLS.SecretName, readCertificate)
	if err != nil {
		return nil, err
	}
	asks := mc.Spec.TLS.ClientAuth != "" && mc.Spec.TLS.ClientAuth != cachev1.ClientAuthNone
	switch {
	case !asks:
		secret.Removed, secret.RemovedSince = "", time.Time{}
	case secret.Problem == "" && secret.lacksClientCA:
		secret.Problem = fmt.Sprintf("the Secret lacks %s, by which clientAuth %s checks clients: "+
			"add the CAs of the clients, or set spec.tls.clientAuth to None", certs.KeyClientCA, mc.Spec.TLS.ClientAuth)
	}
	secret.Expired = !secret.NotAfter.IsZero() && !s.now().Before(secret.NotAfter)
	return &secret, nil
}

// users tells of the Secret of a Memcached's users; nil where the spec names none.
func (s *Secrets) users(ctx context.Context, mc *cachev1.Memcached) (*Secret, error) {
	if mc.Spec.Auth == nil {
		return nil, nil
	}
	secret, err := s.read(ctx, forAuth, mc.Namespace, mc.Spec.Auth.SecretName, s.readUsers)
	return &secret, err
}

// read returns what is known of a Secret, and asks the API server where that is not known or old.
func (s *Secrets) read(
	ctx context.Context, purpose, namespace, name string, judge func(map[string][]byte) Secret,
) (Secret, error) {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	id := purpose + " " + key.String()
	before := s.recall(id)
	if before.resourceVersion != "" {
		return before, nil
	}
	object := &corev1.Secret{}
	err := s.live.Get(ctx, key, object)
	if apierrors.IsNotFound(err) {
		before.Name, before.Missing = name, true // What was accepted stays known, for when it is back.
		s.keep(id, before)
		return before, nil
	}
	if err != nil {
		return Secret{}, fmt.Errorf("read Secret %s: %w", key, err)
	}
	now := judge(object.Data)
	now.Name, now.resourceVersion = name, object.ResourceVersion
	s.compare(&now, before)
	s.keep(id, now)
	return now, nil
}

// recall returns what is known of a Secret. From now on, a watch tells of it.
func (s *Secrets) recall(id string) Secret {
	s.mu.Lock()
	defer s.mu.Unlock()
	secret := s.known[id]
	s.known[id] = secret
	return secret
}

// keep remembers what was read, unless the watch has told of another version meanwhile.
func (s *Secrets) keep(id string, secret Secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	secret.watched = s.known[id].watched
	if secret.watched != "" && secret.watched != secret.resourceVersion {
		secret.resourceVersion = ""
	}
	s.known[id] = secret
}

// compare finds what a Secret does not hold any more. Of one that can't be used, nothing gets to memcached.
func (s *Secrets) compare(now *Secret, before Secret) {
	now.Removed, now.RemovedSince = before.Removed, before.RemovedSince
	if now.Problem != "" {
		now.accepted = before.accepted
		return
	}
	gone := maps.Clone(before.accepted)
	maps.DeleteFunc(gone, func(id, _ string) bool { return now.accepted[id] != "" })
	if len(gone) > 0 {
		words := slices.Sorted(maps.Values(gone))
		now.Removed, now.RemovedSince = strings.Join(slices.Compact(words), ", "), s.now()
	}
}

func readCertificate(data map[string][]byte) Secret {
	mounted, err := certs.Parse(data)
	if err != nil {
		return Secret{Problem: err.Error()}
	}
	accepted := map[string]string{}
	for _, authority := range mounted.ClientCAs {
		accepted[string(authority.Raw)] = fmt.Sprintf("client CA %q", authority.Subject)
	}
	return Secret{NotAfter: mounted.Leaf.NotAfter, lacksClientCA: len(mounted.ClientCAs) == 0, accepted: accepted}
}

func (s *Secrets) readUsers(data map[string][]byte) Secret {
	list, err := users.Parse(data)
	if err != nil {
		return Secret{Problem: err.Error()}
	}
	accepted := map[string]string{}
	for _, user := range list {
		hash := hmac.New(sha256.New, s.salt)
		hash.Write([]byte(user.Name + ":" + user.Password))
		accepted[string(hash.Sum(nil))] = "a user or a password"
	}
	return Secret{accepted: accepted}
}

// TrimSecret drops all of a Secret's metadata but what tells of a change.
func TrimSecret(object any) (any, error) {
	if secret, ok := object.(*metav1.PartialObjectMetadata); ok {
		secret.ObjectMeta = metav1.ObjectMeta{
			Name: secret.Name, Namespace: secret.Namespace, UID: secret.UID, ResourceVersion: secret.ResourceVersion,
		}
	}
	return object, nil
}
