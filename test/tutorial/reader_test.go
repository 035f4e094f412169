//go:build e2e

package tutorial

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/google/go-containerregistry/pkg/crane"

	"github.com/example-inc/memcached-operator/internal/testing/site"
	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/worktree"
	"github.com/example-inc/memcached-operator/test/arch/base"
)

// reader acts as a reader of the tutorial who has a clone of the repository, a cluster, and buildah.
type reader struct {
	t       *testing.T
	clone   string
	cluster *local.Cluster
	env     []string
	// mirrors are variables of make that replace images which can't be pulled without the internet.
	mirrors []string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	v := &reader{t: t, clone: clone(t), cluster: site.Cluster(t, local.Options{Name: "tutorial", Needs: preflight.Tutorial()})}
	v.env = append(worktree.Environment(), "KUBECONFIG="+v.cluster.Kubeconfig)
	v.env = append(v.env, v.configureBuildah()...)
	memcached, version, err := oci.Memcached(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	memcachedImage := v.cluster.Image("memcached", version)
	if _, err := oci.Push(t.Context(), memcached, memcachedImage); err != nil {
		t.Fatal(err)
	}
	build := append([]string{"--build-arg", "BUILDER=" + base.Push(t, v.cluster.Registry), "--build-arg", "BASE=scratch"},
		base.Caches(t, v.clone)...)
	v.mirrors = []string{"BUILD_ARGS=" + strings.Join(build, " "), "MEMCACHED_IMAGE=" + memcachedImage}
	return v
}

// clone makes a copy of the working tree, because make bundle writes to it.
func clone(t *testing.T) string {
	t.Helper()
	root, err := builds.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := worktree.Copy(t.Context(), root, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// configureBuildah makes buildah keep its images in a folder of the test, and use the cluster's registry without TLS.
func (v *reader) configureBuildah() (env []string) {
	v.t.Helper()
	dir := v.t.TempDir()
	for variable, text := range map[string]string{
		"CONTAINERS_STORAGE_CONF": fmt.Sprintf("[storage]\ndriver = \"vfs\"\ngraphroot = %q\nrunroot = %q\n",
			filepath.Join(dir, "graph"), filepath.Join(dir, "run")),
		"CONTAINERS_REGISTRIES_CONF": fmt.Sprintf("[[registry]]\nlocation = %q\ninsecure = true\n", v.cluster.Registry),
	} {
		file := filepath.Join(dir, variable)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			v.t.Fatal(err)
		}
		env = append(env, variable+"="+file)
	}
	return append(env, "BUILDAH_ISOLATION=chroot", "TMPDIR="+v.t.TempDir())
}

// make runs a target of the Makefile, with buildah instead of Docker.
func (v *reader) make(target string, variables ...string) {
	v.t.Helper()
	args := append([]string{target, "CONTAINER_TOOL=buildah"}, append(variables, v.mirrors...)...)
	v.output(exec.CommandContext(v.t.Context(), "make", args...))
}

func (v *reader) kubectl(args ...string) string {
	v.t.Helper()
	return v.output(exec.CommandContext(v.t.Context(), v.cluster.Kubectl, args...))
}

func (v *reader) output(command *exec.Cmd) string {
	v.t.Helper()
	command.Dir, command.Env = v.clone, v.env
	v.t.Log(strings.Join(command.Args[:2], " "))
	out, err := command.CombinedOutput()
	if err != nil {
		v.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

func (v *reader) read(name string) string {
	v.t.Helper()
	content, err := os.ReadFile(filepath.Join(v.clone, name))
	if err != nil {
		v.t.Fatal(err)
	}
	return string(content)
}

// filesOf returns the content of all files of an image, one after the other.
func (v *reader) filesOf(ref string) string {
	v.t.Helper()
	image, err := crane.Pull(ref)
	if err != nil {
		v.t.Fatal(err)
	}
	var files strings.Builder
	if err := crane.Export(image, &files); err != nil {
		v.t.Fatal(err)
	}
	return files.String()
}

// assertKeysAreKept stores and reads keys in a cache, through kubectl port-forward.
func (v *reader) assertKeysAreKept() {
	v.t.Helper()
	ctx, cancel := context.WithCancel(v.t.Context())
	defer cancel()
	command := exec.CommandContext(ctx, v.cluster.Kubectl, "port-forward", "deployment/memcached-sample", ":11211")
	command.Env, command.Stderr = v.env, v.t.Output()
	out, err := command.StdoutPipe()
	if err != nil {
		v.t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		v.t.Fatal(err)
	}
	defer func() { cancel(); _ = command.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		v.t.Fatalf("port-forward: %v", err)
	}
	address, _, _ := strings.Cut(strings.TrimPrefix(line, "Forwarding from "), " ")
	cache := memcache.New(address)
	if err := cache.Set(&memcache.Item{Key: "tutorial", Value: []byte("done")}); err != nil {
		v.t.Fatalf("set by way of %s: %v", address, err)
	}
	item, err := cache.Get("tutorial")
	if err != nil || string(item.Value) != "done" {
		v.t.Errorf("get: %v, error %v", item, err)
	}
}
