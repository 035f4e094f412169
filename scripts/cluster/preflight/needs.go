package preflight

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// Need is a program or a file that has to be on the machine.
type Need struct {
	Program string // a program on the search path, a network plugin, or a keyring of apt
	Package string // the package's name, the same in Debian and Ubuntu
	Why     string
}

// This file lists the programs that the project calls but does not build. It leaves out the programs that the README
// requires, and those that each Debian and Ubuntu has. CI runs everything on a minimal Debian, where a run fails if a
// program is missing in this file.
var (
	apt     = Need{"apt-get", "apt", "fetches packages"}
	dpkg    = Need{"dpkg-deb", "dpkg", "unpacks packages"}
	ptp     = Need{"ptp", cniPlugins, "gives Pods their network"}
	buildah = Need{"buildah", "buildah", "builds the Dockerfile"}
	npm     = Need{"npm", "npm", "fetches memcached clients for Node.js"}
)

const cniPlugins, debianKeyring = "containernetworking-plugins", "debian-archive-keyring"

// Cluster returns the programs that the processes of a cluster call, without those that are built from Go modules.
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

// Memcached returns the program that goes into the image of memcached, and that tests start.
func Memcached() []Need {
	return []Need{{"memcached", "memcached", "is put into the image that caches run"}}
}

// DebianMemcached returns what is needed to make the image of a Debian suite's memcached, even on Ubuntu.
func DebianMemcached() []Need {
	return []Need{apt, dpkg, {debianKeyring + ".gpg", debianKeyring, "verifies packages of Debian"}}
}

// Tutorial returns what the test of the tutorial's commands needs.
func Tutorial() []Need { return append(Memcached(), buildah) }

// Architectures returns what a test needs that builds images by the Dockerfile, and runs programs of other
// architectures.
func Architectures() []Need {
	needs := []Need{apt, dpkg, buildah}
	for _, architecture := range oci.Architectures() {
		if emulator := Emulator(architecture); emulator != "" {
			needs = append(needs, Need{emulator, "qemu-user-static", "runs programs for " + architecture})
		}
	}
	return needs
}

// Emulator returns the name of QEMU's program for an architecture. It is empty for the architecture of this machine.
func Emulator(architecture string) string {
	if architecture == runtime.GOARCH {
		return ""
	}
	return "qemu-" + oci.KernelName(architecture) + "-static"
}

// purposes has, by the name of a make target, the function that returns what a run of the target needs.
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
