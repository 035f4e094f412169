package v1

// Bootstrap fills the cache with the keys of other memcached servers or of a snapshot. If the keys come from servers, a
// key that changes there is copied again, until clients use the cache. If the keys come from a snapshot, they are
// copied once.
//
// +kubebuilder:validation:XValidation:rule="!has(self.from.snapshot) || !has(self.mode) || self.mode == 'Follow'",message="mode CutOver is only for from.servers: if the cache is restored from a snapshot, clients may use it once the condition Bootstrapped is True"
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.mode) || oldSelf.mode != 'CutOver' || (has(self.mode) && self.mode == 'CutOver')",message="mode cannot change from CutOver to Follow, because clients may use the cache already: to go back, let all clients use the other servers, then remove bootstrap"
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.mode) || oldSelf.mode != 'CutOver' || self.from == oldSelf.from",message="from cannot change while mode is CutOver, because clients may use both the cache and the other servers: let all clients use one of the two, then remove bootstrap"
type Bootstrap struct {
	// from is what the keys are copied from: servers or a snapshot. If servers changes, the cache is emptied, and the copy
	// begins again; once mode is CutOver, such a change is refused. If another snapshot is set, its items are added to the
	// items that the cache has. A change replaces no Pod.
	// +required
	From BootstrapSource `json:"from"`

	// mode is the stage of the move: Follow copies all keys, and copies a key again when it changes in the other servers;
	// CutOver prepares the cache and the other servers so that clients may use both: a key that changes in the cache is
	// removed from the other servers, and a key that changes there is removed from the cache. Let no client write to the
	// cache before the condition Bootstrapped is True. With CutOver, rollouts and changes to size wait until bootstrap is
	// removed. A change replaces no Pod. Defaults to Follow.
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

// BootstrapSource is a list of memcached servers that clients use together, or a snapshot.
//
// +kubebuilder:validation:XValidation:rule="has(self.servers) != has(self.snapshot)",message="from needs either servers or a snapshot"
//
// +kubebuilder:validation:XValidation:rule="!has(self.snapshot) || !has(self.clientHash) && !has(self.tls) && !has(self.auth)",message="clientHash, tls and auth are only for servers: remove them, because this bootstrap is from a snapshot"
type BootstrapSource struct {
	// servers are the servers, HOST:PORT, 1 to 64, in the order and the spelling of the clients' lists, because the hash
	// depends on both. They must run memcached 1.6.20 or newer, and allow dumps (no -X). A change replaces no Pod.
	// Defaults to none: snapshot is required.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=260
	// +kubebuilder:validation:items:Pattern=`^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?):[1-9][0-9]{0,4}$`
	Servers []string `json:"servers,omitempty"`

	// clientHash is how clients choose one of these servers for a key. A change replaces no Pod. Defaults to
	// slots.clientHash.
	// +optional
	ClientHash ClientHash `json:"clientHash,omitempty"`

	// tls is how to reach servers that require TLS. Defaults to none: the servers are reached without TLS.
	// +optional
	TLS *BootstrapTLS `json:"tls,omitempty"`

	// auth is how to log in to servers that require authentication. Defaults to none.
	// +optional
	Auth *BootstrapAuth `json:"auth,omitempty"`

	// snapshot is a snapshot of a cache (docs/snapshots.md). Its items are added once, by a Job NAME-restore; if the cache
	// already has a key, the value in the cache is kept. Let no client use the cache before the condition Bootstrapped is
	// True. A change replaces no Pod. Defaults to none: servers is required.
	// +optional
	Snapshot *BootstrapSnapshot `json:"snapshot,omitempty"`
}

// BootstrapSnapshot is a snapshot in a bucket or a volume.
type BootstrapSnapshot struct {
	// name is the name of the snapshot: status.snapshotName of the MemcachedSnapshot. If name changes, the operator also
	// restores the snapshot with the new name. A change replaces no Pod.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:Pattern=`^[-A-Za-z0-9_][-A-Za-z0-9_.]*$`
	Name string `json:"name"`

	SnapshotTarget `json:",inline"`
}

// BootstrapTLS is how to reach servers that require TLS.
type BootstrapTLS struct {
	// secretName is a Secret in the same namespace with ca.crt, the CAs of the servers, in PEM. The certificates of the
	// servers must be valid for the hosts in servers. If the servers require a client's certificate, the Secret also has
	// tls.crt and tls.key, in PEM. A change replaces no Pod.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	SecretName string `json:"secretName"`
}

// BootstrapAuth is how to log in to servers that require authentication.
type BootstrapAuth struct {
	// secretName is a Secret in the same namespace with username and password. A change replaces no Pod.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	SecretName string `json:"secretName"`
}
