package v1

// Bootstrap fills the cache with the keys of memcached servers that do not belong to it, and follows what changes there
// until clients use the cache; or it fills the cache once, with the keys of a snapshot.
//
// +kubebuilder:validation:XValidation:rule="!has(self.from.snapshot) || !has(self.mode) || self.mode == 'Follow'",message="mode CutOver is for from.servers: clients may use a cache with a snapshot once the condition Bootstrapped is True"
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.mode) || oldSelf.mode != 'CutOver' || (has(self.mode) && self.mode == 'CutOver')",message="mode cannot change from CutOver to Follow, because clients may use the cache already: to go back, let all clients use the other servers, then remove bootstrap"
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.mode) || oldSelf.mode != 'CutOver' || self.from == oldSelf.from",message="from cannot change while mode is CutOver, because clients may use both: let all of them use one of the two, then remove bootstrap"
type Bootstrap struct {
	// from is what the keys are copied from: servers or a snapshot. A change to servers begins again, with an empty cache,
	// and is refused once mode is CutOver; another snapshot is added to what the cache has. A change replaces no Pod.
	// +required
	From BootstrapSource `json:"from"`

	// mode is how far the move goes: Follow copies all keys, and each one again that changes in the other servers; or
	// CutOver, from which on clients may use both: a key that changes in one is removed from the other. Let no client
	// write to the cache before the condition Bootstrapped is True. Rollouts and changes to size wait from then on until
	// bootstrap is removed. A change replaces no Pod. Defaults to Follow.
	// +optional
	// +kubebuilder:default=Follow
	Mode BootstrapMode `json:"mode,omitempty"`
}

// BootstrapMode is how far clients have moved to the cache.
//
// +kubebuilder:validation:Enum=Follow;CutOver
type BootstrapMode string

const (
	// BootstrapFollow means that clients use the other servers.
	BootstrapFollow BootstrapMode = "Follow"

	// BootstrapCutOver means that clients may use the other servers and the cache.
	BootstrapCutOver BootstrapMode = "CutOver"
)

// BootstrapSource are memcached servers that clients use together, or a snapshot.
//
// +kubebuilder:validation:XValidation:rule="has(self.servers) != has(self.snapshot)",message="from needs either servers or a snapshot"
//
// +kubebuilder:validation:XValidation:rule="!has(self.snapshot) || !has(self.clientHash) && !has(self.tls) && !has(self.auth)",message="clientHash, tls and auth are those of servers: remove them from a bootstrap from a snapshot"
type BootstrapSource struct {
	// servers are the servers, HOST:PORT, 1 to 64, in the order and the spelling in which clients have them, because the
	// hash depends on both. They must run memcached 1.6.20 or newer, and allow dumps (no -X). A change replaces no Pod.
	// Defaults to none: snapshot is required.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=260
	// +kubebuilder:validation:items:Pattern=`^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?):[1-9][0-9]{0,4}$`
	Servers []string `json:"servers,omitempty"`

	// clientHash is how clients choose the server of a key. A change replaces no Pod. Defaults to slots.clientHash.
	// +optional
	ClientHash ClientHash `json:"clientHash,omitempty"`

	// tls is how to reach servers that require TLS. Defaults to none: they are reached without TLS.
	// +optional
	TLS *BootstrapTLS `json:"tls,omitempty"`

	// auth is how to log in to servers that require it. Defaults to none.
	// +optional
	Auth *BootstrapAuth `json:"auth,omitempty"`

	// snapshot is a snapshot of a cache (docs/snapshots.md). Its items are added once, by a Job NAME-restore; keys that
	// the cache has are kept. Let no client use the cache before the condition Bootstrapped is True. A change replaces
	// no Pod. Defaults to none: servers is required.
	// +optional
	Snapshot *BootstrapSnapshot `json:"snapshot,omitempty"`
}

// BootstrapSnapshot is a snapshot in a bucket or a volume.
type BootstrapSnapshot struct {
	// name is the name of the snapshot: status.snapshotName of the MemcachedSnapshot. A change restores the other one,
	// too, and replaces no Pod.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:Pattern=`^[-A-Za-z0-9_][-A-Za-z0-9_.]*$`
	Name string `json:"name"`

	SnapshotTarget `json:",inline"`
}

// BootstrapTLS is how to reach servers that require TLS.
type BootstrapTLS struct {
	// secretName is a Secret in the same namespace: ca.crt, the CAs of the servers, whose certificates must have the names
	// in servers; and, if they require a client's certificate, tls.crt and tls.key, all in PEM. A change replaces no Pod.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	SecretName string `json:"secretName"`
}

// BootstrapAuth is how to log in to servers that require it.
type BootstrapAuth struct {
	// secretName is a Secret in the same namespace with username and password. A change replaces no Pod.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	SecretName string `json:"secretName"`
}
