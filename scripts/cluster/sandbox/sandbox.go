// Package sandbox isolates the processes of a cluster with a real Node from the machine: process, mount and network
// namespaces, and a control group. When the first process of the namespace ends, for whatever reason, the kernel ends
// all the others and removes mounts and network interfaces. No packet can leave the network namespace.
package sandbox

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
)

// Cgroup is the control group of a cluster, in every hierarchy. Two clusters with the same name in different caches
// have different control groups, so that stopping one does not end the processes of the other.
func Cgroup(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return fmt.Sprintf("memcached-operator-%s-%x", filepath.Base(dir), sum[:3])
}
