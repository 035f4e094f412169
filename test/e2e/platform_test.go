//go:build e2e

package e2e

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/soak"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// TestTheStatusSaysThatAnImageIsForOtherNodes uses two images with a program for another architecture: one whose
// metadata has this architecture, and one whose metadata claims the architecture of the Nodes.
func TestTheStatusSaysThatAnImageIsForOtherNodes(t *testing.T) {
	soak.Only(t, "TestProblemOf in operator/internal/observe has what kubelets say")
	c.shared(t)
	it := newCache(t, "foreign", cachev1.MemcachedSpec{Size: new(int32(1))})
	it.says(cachev1.ReasonAllPodsReady, "1 of 1 Pods ready")
	before := it.pods()
	for name, tc := range map[string]struct {
		image string
		want  string
	}{
		"an image that is honest about it": {
			image: foreignImage(t, "honest", false),
			want: `of container "memcached" cannot be pulled (it has no variant for the Node's architecture; ` +
				"see spec.image, or exclude these Nodes by spec.placement.architectures)",
		},
		"an image that says it is for these Nodes": {
			image: foreignImage(t, "mislabelled", true),
			want: "the image claims the Node's architecture, but its program is for another architecture; " +
				"see spec.image, or exclude these Nodes by spec.placement.architectures",
		},
	} {
		t.Run(name, func(t *testing.T) {
			it := it.in(t)
			it.patch(`{"image":"` + tc.image + `"}`)
			it.says(cachev1.ReasonPodsNotReady, tc.want)
			for name, uid := range before {
				it.Expect(it.pods()).To(gomega.HaveKeyWithValue(name, uid), "the Pod that serves stays")
			}
		})
	}
	it.patch(`{"image":null}`)
	it.says(cachev1.ReasonAllPodsReady, "1 of 1 Pods ready")
}

// foreignImage pushes an index with one image whose program the Nodes of the cluster can't run, and returns its
// reference.
func foreignImage(t *testing.T, tag string, mislabelled bool) string {
	t.Helper()
	program := oci.Program{Dir: c.Root, Package: "./scripts/images/pause", Platform: foreignPlatform(t)}
	image, err := program.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if mislabelled {
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		config = config.DeepCopy()
		config.Architecture = oci.Host().Architecture
		if image, err = mutate.ConfigFile(image, config); err != nil {
			t.Fatal(err)
		}
	}
	index, err := oci.Index(image)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := oci.Push(t.Context(), index, c.Cluster.Image("foreign", tag))
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// foreignPlatform returns a platform whose programs the Nodes can't run: one for which the kernel has no emulator.
func foreignPlatform(t *testing.T) v1.Platform {
	t.Helper()
	for _, platform := range oci.Platforms() {
		handler := "/proc/sys/fs/binfmt_misc/qemu-" + oci.KernelName(platform.Architecture)
		if _, err := os.Stat(handler); errors.Is(err, fs.ErrNotExist) && !platform.Equals(oci.Host()) {
			return platform
		}
	}
	t.Fatal("this machine emulates every other architecture, so it can run every program: disable one emulator, for example by `echo -1 > /proc/sys/fs/binfmt_misc/qemu-s390x`")
	return v1.Platform{}
}
