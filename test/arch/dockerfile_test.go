//go:build e2e

package arch

import (
	"archive/tar"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/test/arch/base"
)

// TestTheDockerfileMakesTheProgramsOfTheIndex builds the Dockerfile for all platforms by buildah, without a network and
// on base images that the test makes, and compares the programs with those of `make image`. Both builds share Go's
// build cache. Its keys contain everything that decides how a package is compiled (compiler, flags and sources). So a
// Dockerfile with another compiler, flag or source finds nothing in the cache and makes a different program, which the
// test notices.
func TestTheDockerfileMakesTheProgramsOfTheIndex(t *testing.T) {
	builder := base.Push(t, host)
	for program, build := range map[string]struct {
		index string
		args  []string
	}{
		"manager":  {operatorIndex, []string{"--build-arg", "VERSION=" + version}},
		"agent":    {agentIndex, []string{"--target", "agent"}},
		"snapshot": {snapshotIndex, []string{"--target", "snapshot", "--build-arg", "VERSION=" + version}},
	} {
		ref := buildDockerfile(t, builder, program, build.args...)
		for _, platform := range oci.Platforms() {
			t.Run(program+" of "+platform.String(), func(t *testing.T) {
				want := factsOf(t, pull(t, build.index, platform))
				got := factsOf(t, pull(t, ref, platform))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("the Dockerfile's image (-index +Dockerfile):\n%s", diff)
				}
				t.Logf("sha256 %s", got.Files[program])
			})
		}
	}
}

func buildDockerfile(t *testing.T, builder, program string, args ...string) string {
	t.Helper()
	var platforms []string
	for _, platform := range oci.Platforms() {
		platforms = append(platforms, platform.String())
	}
	ref := host + "/" + program + ":dockerfile"
	storage := []string{"--root", t.TempDir(), "--runroot", t.TempDir(), "--storage-driver", "vfs"}
	build := slices.Concat(storage, []string{"build", "--isolation", "chroot", "--tls-verify=false", "--file", "Dockerfile",
		"--platform", strings.Join(platforms, ","), "--manifest", ref,
		"--build-arg", "BUILDER=" + builder, "--build-arg", "BASE=scratch",
		// Debian 12's buildah does not find out by itself on which platform it runs.
		"--build-arg", "BUILDPLATFORM=" + oci.Host().String()}, base.Caches(t, root), args)
	buildah(t, append(build, ".")...)
	buildah(t, append(storage, "manifest", "push", "--all", "--tls-verify=false", ref, "docker://"+ref)...)
	return ref
}

func buildah(t *testing.T, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "buildah", args...)
	command.Dir = root
	command.Env = append(command.Environ(), "TMPDIR="+t.TempDir())
	output(t, command)
}

func output(t *testing.T, command *exec.Cmd) {
	t.Helper()
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// facts are the properties of an image on which its behavior depends.
type facts struct {
	Platform, User string
	Entrypoint     []string
	Files          map[string]string // their SHA-256
}

func factsOf(t *testing.T, image v1.Image) facts {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	f := facts{
		Platform: config.Platform().String(), User: config.Config.User, Entrypoint: config.Config.Entrypoint,
		Files: map[string]string{},
	}
	files := mutate.Extract(image)
	defer files.Close()
	archive := tar.NewReader(files)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return f
		}
		if err != nil {
			t.Fatal(err)
		}
		hash := sha256.New()
		if _, err := io.Copy(hash, archive); err != nil {
			t.Fatal(err)
		}
		f.Files[header.Name] = fmt.Sprintf("%x", hash.Sum(nil))
	}
}
