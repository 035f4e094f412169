package app

// The image that saves caches, where the environment names none.

// DefaultSnapshotImage is used where EnvSnapshotImage is not set. Its tag is the operator's version.
const DefaultSnapshotImage = "registry.example.com/memcached-snapshot:0.1.0"
