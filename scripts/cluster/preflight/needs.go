package preflight

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// Need is something that has to be on the machine.
type Need struct {
	Program string // on the search path, a network plugin, or a keyring of apt
	Package string // of Debian and Ubuntu, which call all of them the same
	Why     string
}

// This file has the programs that the project calls and does not build, except those that the README requires and those
// that each Debian and Ubuntu has. CI runs everything on a bare Debian, where a program that is missing in this file
// makes a run fail.
var (
	apt     = Need{"apt-get", "apt", "fetches packages"}
	dpkg    = Need{"dpkg-deb", "dpkg", "unpacks packages"}
	ptp     = Need{"ptp", cniPlugins, "gives Pods their network"}
	buildah = Need{"buildah", "buildah", "builds the Dockerfile"}
	npm     = Need{"npm", "npm", "fetches clients for Node.js"}
)

const cniPlugins, debianKeyring = "containernetworking-plugins", "debian-archive-keyring"

// Cluster is what the parts of a cluster call that doesn't come from Go modules.
func Cluster(withArgoCD bool) []Need {
	needs := []Need{
		{"git", "git", "holds the repository that Argo CD follows"},
		{"runc", "runc", "starts containers for containerd"},
		{"nft", "nftables", "writes the rules of kube-proxy"},
		{"mount", "mount", "mounts volumes for the kubelet"},
		ptp,
		{"host-local", cniPlugins, "gives Pods their addresses"},
		{"loopback", cniPlugins, "gives Pods their localhost"},
	}
	if withArgoCD {
		needs = append(needs, Need{"redis-server", "redis-server", "is Argo CD's cache"})
	}
	return needs
}

// Memcached is what the image of memcached is made from, and what tests start.
func Memcached() []Need { return []Need{{"memcached", "memcached", "is put into the image of caches"}} }

// DebianMemcached is what it takes to make an image of the memcached of a suite of Debian, even on Ubuntu.
func DebianMemcached() []Need {
	return []Need{apt, dpkg, {debianKeyring + ".gpg", debianKeyring, "verifies packages of Debian"}}
}

// Tutorial is what goes through the commands of the tutorial.
func Tutorial() []Need { return append(Memcached(), buildah) }

// Architectures is what builds images by the Dockerfile, and runs programs of other architectures.
func Architectures() []Need {
	needs := []Need{apt, dpkg, buildah}
	for _, architecture := range oci.Architectures() {
		if emulator := Emulator(architecture); emulator != "" {
			needs = append(needs, Need{emulator, "qemu-user-static", "runs programs for " + architecture})
		}
	}
	return needs
}

// Emulator is QEMU's program for an architecture; empty for the machine's own.
func Emulator(architecture string) string {
	if architecture == runtime.GOARCH {
		return ""
	}
	return "qemu-" + oci.KernelName(architecture) + "-static"
}

// purposes are the runs that need something of the machine, by the name of their make target.
var purposes = map[string]func() []Need{
	"demo":     func() []Need { return append(Cluster(true), DebianMemcached()...) },
	"e2e":      func() []Need { return append(slices.Concat(Cluster(true), Tutorial(), DebianMemcached()), npm) },
	"e2e-arch": func() []Need { return slices.Concat(Cluster(false), Memcached(), Architectures()) },
	"bench":    func() []Need { return append(Cluster(false), Memcached()...) },
}

// For returns what a run needs: demo, e2e, e2e-arch or bench.
func For(purpose string) ([]Need, error) {
	needs, ok := purposes[purpose]
	if !ok {
		known := slices.Sorted(maps.Keys(purposes))
		return nil, fmt.Errorf("purpose %q: choose one of %s", purpose, strings.Join(known, ", "))
	}
	return needs(), nil
}
