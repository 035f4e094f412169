package secrets

// Records which Memcached uses which Secret; a Secret that no Memcached uses is forgotten.

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// use is a Secret and its purpose.
type use struct {
	types.NamespacedName
	purpose

	// bound: a binding copies a part of the content.
	bound bool
}

type purpose string

const (
	forTLS       purpose = "tls"
	forMutualTLS purpose = "mutual tls"
	forAuth      purpose = "auth"
)

// usesFor returns all uses that a Secret may have.
func usesFor(secret types.NamespacedName) (all []use) {
	for _, purpose := range []purpose{forTLS, forMutualTLS, forAuth} {
		all = append(all, use{secret, purpose, false}, use{secret, purpose, true})
	}
	return all
}

// NamesOf returns the names of the Secrets that a Memcached uses.
func NamesOf(mc *cachev1.Memcached) []string {
	var names []string
	if mc.Spec.TLS != nil {
		names = append(names, mc.TLSSecretName())
	}
	if mc.Spec.Auth != nil && !slices.Contains(names, mc.Spec.Auth.SecretName) {
		names = append(names, mc.Spec.Auth.SecretName)
	}
	return names
}

func useForTLS(mc *cachev1.Memcached) use {
	purpose := forTLS
	if mc.Spec.TLS.RequestsCertificates() {
		purpose = forMutualTLS
	}
	return useOf(mc, mc.TLSSecretName(), purpose)
}

func useForAuth(mc *cachev1.Memcached) use {
	return useOf(mc, mc.Spec.Auth.SecretName, forAuth)
}

func useOf(mc *cachev1.Memcached, secret string, purpose purpose) use {
	return use{types.NamespacedName{Namespace: mc.Namespace, Name: secret}, purpose, mc.Spec.Binding != nil}
}

func usesOf(mc *cachev1.Memcached) []use {
	var of []use
	if mc.Spec.TLS != nil {
		of = append(of, useForTLS(mc))
	}
	if mc.Spec.Auth != nil {
		of = append(of, useForAuth(mc))
	}
	return of
}

// uses are the uses of all Memcacheds.
type uses struct {
	of     map[types.NamespacedName][]use // by Memcached
	number map[use]int                    // how many Memcacheds have this use
}

func newUses() uses {
	return uses{of: map[types.NamespacedName][]use{}, number: map[use]int{}}
}

// set records the uses of a Memcached, and returns the uses that no Memcached has any more.
func (u uses) set(memcached types.NamespacedName, now []use) (over []use) {
	before := u.of[memcached]
	if slices.Equal(before, now) {
		return nil
	}
	for _, use := range now {
		u.number[use]++
	}
	for _, use := range before {
		if u.number[use]--; u.number[use] == 0 {
			delete(u.number, use)
			over = append(over, use)
		}
	}
	u.of[memcached] = now
	if len(now) == 0 {
		delete(u.of, memcached)
	}
	return over
}

// Follow records which Secrets a Memcached uses, and forgets the Secrets that are no longer used.
func (m *Memory) Follow(mc *cachev1.Memcached) {
	m.set(types.NamespacedName{Namespace: mc.Namespace, Name: mc.Name}, usesOf(mc))
}

// Forget forgets the Secrets of a deleted Memcached. No other goroutine may read these Secrets for this Memcached at
// the same time.
func (m *Memory) Forget(memcached types.NamespacedName) {
	m.set(memcached, nil)
}

func (m *Memory) set(memcached types.NamespacedName, now []use) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, use := range m.uses.set(memcached, now) {
		delete(m.known, use)
	}
}
