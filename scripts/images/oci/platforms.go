package oci

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Architectures returns the architectures for which the operator is released.
func Architectures() []string { return []string{"amd64", "arm64", "ppc64le", "s390x"} }

// Platforms returns the platforms for which the operator is released.
func Platforms() []v1.Platform { return PlatformsOf(Architectures()) }

// PlatformsOf returns the platforms of containers on these architectures.
func PlatformsOf(architectures []string) (platforms []v1.Platform) {
	for _, architecture := range architectures {
		platforms = append(platforms, v1.Platform{OS: "linux", Architecture: architecture})
	}
	return platforms
}

// Host returns the platform of containers on this machine.
func Host() v1.Platform { return v1.Platform{OS: "linux", Architecture: runtime.GOARCH} }

// KernelName returns the name of an architecture in the kernel and in QEMU.
func KernelName(architecture string) string {
	switch architecture {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "aarch64"
	}
	return architecture
}

// ParsePlatforms reads a list such as linux/arm64,linux/amd64. It sorts the platforms and removes duplicates, so that
// the order of the list does not change the digest of an index.
func ParsePlatforms(list []string) ([]v1.Platform, error) {
	var architectures []string
	for _, item := range list {
		architecture, isLinux := strings.CutPrefix(item, "linux/")
		if !isLinux || !slices.Contains(Architectures(), architecture) {
			return nil, fmt.Errorf("--platform %q is not supported: choose from linux/%s",
				item, strings.Join(Architectures(), ",linux/"))
		}
		architectures = append(architectures, architecture)
	}
	slices.Sort(architectures)
	return PlatformsOf(slices.Compact(architectures)), nil
}
