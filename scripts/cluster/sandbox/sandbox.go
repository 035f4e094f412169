// Package sandbox isolates the processes of a cluster with a real Node from the machine: process, mount and network
// namespaces, and a control group. When the first process of the namespace ends, for whatever reason, the
// kernel ends all the others and removes mounts and network interfaces. There is no path from the network namespace to
// any other.
package sandbox

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
)

// Cgroup is the control group of a cluster, in every hierarchy. Clusters of one name in different caches are different
// clusters: stopping one must not find the other's processes.
func Cgroup(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return fmt.Sprintf("memcached-operator-%s-%x", filepath.Base(dir), sum[:3])
}
