package secrets

// Reads each version of a Secret once, and finds the entries that were removed since the previous version.

import (
	"cmp"
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
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/certmanager"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/certs"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// Memory reads each version of a Secret once from the API server. Of the content, it keeps only the parts that a
// binding copies.
type Memory struct {
	live client.Reader
	now  func() time.Time
	salt []byte // only of this process, so that the remembered hash of a password is useless elsewhere

	// serverTime is the time by the clock of the API server, which also sets the creation time of Pods.
	serverTime func() time.Time

	mu    sync.Mutex
	known map[use]record
	uses  uses
}

// record is the last result of reading a Secret for one use.
type record struct {
	State

	// version is the version that was read; empty if it must be read again. watched is the last version that the watch
	// reported.
	version, watched string

	// accepted describes the client CAs or the users in the Secret. former has the client CAs or the users that were
	// removed. The keys of both are the certificates of the CAs, or the hashes of the users.
	accepted map[string]string
	former   map[string]Removal
}

// NewMemory returns a Memory that reads Secrets with a reader which does not cache.
func NewMemory(live client.Reader, serverTime func() time.Time) *Memory {
	salt := make([]byte, sha256.Size)
	_, _ = rand.Read(salt) // rand.Read never fails.
	return &Memory{
		live: live, now: time.Now, salt: salt, serverTime: serverTime, known: map[use]record{}, uses: newUses(),
	}
}

// Changed makes the next use read a Secret again, unless that version was read already. A deleted Secret has no
// version. Changed ignores Secrets that no Memcached uses, and returns whether there is a new version to read.
func (m *Memory) Changed(key types.NamespacedName, version string) (changed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, use := range usesFor(key) {
		known, ok := m.known[use]
		if !ok {
			continue
		}
		known.watched = version
		if version == "" || known.version != version {
			known.version = ""
			changed = true
		}
		m.known[use] = known
	}
	return changed
}

// Certificate returns the state of the Secret of a Memcached's certificate; nil if the spec names none.
func (m *Memory) Certificate(ctx context.Context, mc *cachev1.Memcached) *State {
	if mc.Spec.TLS == nil {
		return nil
	}
	secret := m.read(ctx, useForTLS(mc), func(data map[string][]byte) record {
		now := readCertificate(data, mc.Spec.TLS.RequestsCertificates())
		if mc.Spec.Binding != nil && now.Problem == "" {
			now.CA = string(data[certs.KeyClientCA])
		}
		return now
	})
	secret.Expired = !secret.NotAfter.IsZero() && !m.now().Before(secret.NotAfter)
	return &secret
}

// Users returns the state of the Secret of a Memcached's users; nil if the spec names none.
func (m *Memory) Users(ctx context.Context, mc *cachev1.Memcached) *State {
	if mc.Spec.Auth == nil {
		return nil
	}
	secret := m.read(ctx, useForAuth(mc), func(data map[string][]byte) record {
		return m.readUsers(data, mc.Spec.Binding != nil)
	})
	return &secret
}

// read returns the remembered state of a Secret, and reads it from the API server if it is unknown or outdated.
func (m *Memory) read(ctx context.Context, use use, judge func(map[string][]byte) record) State {
	before := m.recall(use)
	if before.version != "" {
		return before.State
	}
	object := &corev1.Secret{}
	now := before
	err := m.live.Get(ctx, use.NamespacedName, object)
	switch {
	case apierrors.IsNotFound(err): // Keep the accepted entries, in case the Secret is created again.
		now.State = State{Name: use.Name, Missing: true, Removed: before.Removed, Noticed: before.Noticed}
	case err != nil:
		return State{
			Name: use.Name, Err: fmt.Errorf("read Secret %s: %w", use.NamespacedName, err),
			Removed: before.Removed, Noticed: before.Noticed,
		}
	default:
		now = judge(object.Data)
		if slices.Contains(UnwatchedTypes, object.Type) {
			now = record{State: State{Problem: fmt.Sprintf("a Secret of the type %s is for something else: "+
				"make one of the type kubernetes.io/tls, kubernetes.io/basic-auth or Opaque", object.Type)}}
		}
		now.Name, now.Version, now.version = use.Name, object.ResourceVersion, object.ResourceVersion
		now.IssuedFor = object.Annotations[certmanager.AnnotationCertificate]
		now = m.compare(now, before)
	}
	m.keep(use, now)
	return now.State
}

// recall returns the remembered state of a Secret. From then on, a new version of the Secret in the watch invalidates
// the state, even if nothing was remembered before.
func (m *Memory) recall(use use) record {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.known[use]
	m.known[use] = known
	return known
}

// keep remembers the state that was read, unless the watch has reported another version in the meantime.
func (m *Memory) keep(use use, now record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now.watched = m.known[use].watched
	if now.watched != "" && now.watched != now.version {
		now.version = ""
	}
	m.known[use] = now
}

// compare finds the entries that were removed from a Secret. An invalid version of a Secret is never loaded into
// memcached, so it removes no entries.
func (m *Memory) compare(now, before record) record {
	now.Noticed = before.Noticed
	if now.Problem != "" {
		now.accepted, now.former = before.accepted, before.former
		now.Removed = sorted(now.former)
		return now
	}
	now.former = map[string]Removal{}
	for id, removal := range before.former {
		if now.accepted[id] == "" {
			now.former[id] = removal
		}
	}
	at, kept := m.serverTime(), len(now.former)
	for id, what := range before.accepted {
		if now.accepted[id] == "" {
			now.former[id] = Removal{What: what, Since: at}
		}
	}
	if len(now.former) > kept {
		now.Noticed = append(slices.Clip(before.Noticed[max(0, len(before.Noticed)-mostNoticed):]), at)
	}
	now.Removed = sorted(now.former)
	return now
}

// mostNoticed limits how many points in time are kept for a Secret, if entries are removed from it again and again
// while the Pods stay.
const mostNoticed = 1000

func sorted(former map[string]Removal) []Removal {
	return slices.SortedFunc(maps.Values(former), func(a, b Removal) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.What, b.What))
	})
}

func readCertificate(data map[string][]byte, clientCA bool) record {
	parsed, err := certs.Parse(data, clientCA)
	if err != nil {
		return record{State: State{Problem: err.Error()}}
	}
	accepted := map[string]string{}
	for _, ca := range parsed.ClientCAs {
		accepted[string(ca.Raw)] = fmt.Sprintf("client CA %q of %s", ca.Subject, ca.NotBefore.UTC().Format(time.DateOnly))
	}
	leaf := parsed.Leaf
	return record{State: State{NotAfter: leaf.NotAfter, DNSNames: leaf.DNSNames}, accepted: accepted}
}

func (m *Memory) readUsers(data map[string][]byte, bound bool) record {
	list, err := users.Parse(data)
	if err != nil {
		return record{State: State{Problem: err.Error()}}
	}
	accepted := map[string]string{}
	for _, user := range list {
		hash := hmac.New(sha256.New, m.salt)
		hash.Write([]byte(user.Name + ":" + user.Password))
		accepted[string(hash.Sum(nil))] = "a user or a password"
	}
	now := record{accepted: accepted}
	if bound {
		now.User = users.Newest(list)
	}
	return now
}
