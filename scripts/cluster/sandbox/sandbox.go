// Package sandbox isolates the processes of a cluster with a real Node from the machine, by process, mount and network
// namespaces, and by a control group. When the first process of the namespaces ends, for whatever reason, the kernel
// ends all others and removes mounts and network interfaces. No packet can leave the network namespace.
package sandbox

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
)

// Cgroup returns the name of the control group of a cluster, which is the same in each hierarchy. Two clusters with the
// same name in different caches have different control groups, so that stopping one cluster does not end the processes
// of the other.
func Cgroup(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return fmt.Sprintf("memcached-operator-%s-%x", filepath.Base(dir), sum[:3])
}
