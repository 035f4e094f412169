// Package secrets remembers the Secrets that Memcacheds name, while they name them.
//
// It reads each version of a Secret once from the API server, checks that memcached can load it, and keeps nothing of
// its content that would be of use to a reader of the operator's memory. It keeps only when the certificate expires,
// the hosts that the certificate names, the client CAs, and hashes of users. Only for a binding, it also keeps the
// user. The watch of the metadata (package controller) reports new versions, which are read when they are needed.
//
// Memcached keeps accepting the users and client CAs that were removed from a Secret, until memcached restarts. So
// Memory compares each version of a Secret with the previous version, and reports removals. Nothing else records the
// former versions, so an operator that restarts does not know what a Secret contained before. The conditions of the
// status then keep reporting earlier removals, but a removal while no operator ran is not found.
package secrets

// The state of a Secret, as it is reported.

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// State is the state of a Secret that a Memcached names. Of the Secret's content, the state has only the parts that
// every client of the cache may know, and the parts that a binding copies.
type State struct {
	Name string

	// Version is the resource version that was read.
	Version string

	// User and CA are the parts that a binding copies: a user, and the CAs of the servers. They are zero without a
	// binding.
	User users.User
	CA   string

	// Err is why the Secret cannot be read.
	Err error

	// Missing: the Secret does not exist.
	Missing bool

	// Problem is why memcached cannot use the Secret.
	Problem string

	// NotAfter is when the certificate expires; zero if there is none.
	NotAfter time.Time

	// DNSNames are the hosts that the certificate names, which every client sees.
	DNSNames []string

	// IssuedFor is the Certificate for which cert-manager wrote the Secret; empty if cert-manager did not write it.
	IssuedFor string

	// Expired: the certificate has expired.
	Expired bool

	// Removed lists the entries that were removed from the Secret, the oldest first. Pods that started before the
	// removal still accept them.
	Removed []Removal

	// Noticed are the last times, by the clock of the API server, at which this process noticed that an entry was
	// removed, even if the entry was added again since. The process does not know the removals that other processes
	// noticed.
	Noticed []time.Time
}

// Removal is a removed client CA or user, and when the operator noticed, by the clock of the API server.
type Removal struct {
	What  string
	Since time.Time
}

// Usable reports whether new Pods can start with a Secret. It is true for nil, because no Secret is needed if the spec
// names none.
func (s *State) Usable() bool { return s == nil || s.Err == nil && !s.Missing && s.Problem == "" }

// ExistsForOther reports whether the Secret exists, or may exist, and cert-manager did not write it for the Certificate
// with this name.
func (s *State) ExistsForOther(certificate string) bool {
	return s != nil && !s.Missing && s.IssuedFor != certificate
}

// UnwatchedTypes are the types of Secrets that the operator does not watch, because a cluster may have thousands of
// such Secrets for other purposes.
var UnwatchedTypes = []corev1.SecretType{
	"helm.sh/release.v1", corev1.SecretTypeServiceAccountToken, corev1.SecretTypeBootstrapToken,
	corev1.SecretTypeDockercfg, corev1.SecretTypeDockerConfigJson,
}
