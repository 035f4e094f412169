//go:build e2e

// Package release makes releases in copies of the repository, and runs the tests of the files that a release writes in
// these copies. These tests must pass even after a release to another registry.
package release

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/internal/testing/soak"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/cut"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const (
	repository = "../.."
	registry   = "ghcr.io/acme/team"
	version    = "1000.2.3" // newer than any real version

	built = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
)

// images are the commands that test the files into which a release writes memcached's image.
var images = [][]string{
	{"test", "-trimpath", "-count=1", "-vet=off", "./test/olm", "./scripts/versions/..."},
}

// all are the commands that test all files that a release writes.
var all = [][]string{
	{"test", "-trimpath", "-count=1", "-vet=off", "./test/olm", "./test/docs", "./test/crd", "./scripts/release/cut",
		"./scripts/release/bundle", "./scripts/release/catalog", "./scripts/release/operatorhub", "./scripts/release/chart",
		"./scripts/settings/...", "./scripts/versions/..."},
	{"-C", "scripts/gitops", "test", "-trimpath", "-count=1", "-vet=off", "./..."},
}

// versions are the commands that test the files which a release candidate must not change.
var versions = [][]string{{"test", "-trimpath", "-count=1", "-vet=off", "./test/docs", "./scripts/versions/..."}}

func TestTheTestsHoldAfterAReleaseToAnotherRegistry(t *testing.T) {
	tests := map[string]struct {
		version   string
		memcached string // memcached's image. The other images always have a digest.
		commands  [][]string
	}{
		"a candidate": {version + "-rc.1", "docker.io/library/memcached:1.6.46@" + built, versions},
		"by tag":      {version, registry + "/cache:1.6.46", images},
		"by digest":   {version, "docker.io/library/memcached:1.6.46@" + built, all},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if name == "by digest" {
				soak.Only(t, "the other two: this is most of make test again")
			}
			root := released(t, tc.version, tc.memcached)
			for _, args := range tc.commands {
				command := exec.CommandContext(t.Context(), "go", args...)
				command.Dir, command.Env = root, append(worktree.Environment(), "PWD="+root)
				if out, err := command.CombinedOutput(); err != nil {
					t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, failures(out))
				}
			}
		})
	}
}

// released makes a Git repository with the files of this one, and makes a release in it.
func released(t *testing.T, version, memcached string) string {
	t.Helper()
	root := t.TempDir()
	if err := worktree.CopyRepository(t.Context(), repository, root); err != nil {
		t.Fatal(err)
	}
	r := &cut.Release{
		Root: root, Version: version, Registry: registry, MemcachedImage: memcached,
		Build: func(context.Context, []v1.Platform, func(string), ...oci.Program) ([]v1.ImageIndex, error) {
			index, err := oci.Files(nil, map[string]string{"file": version})
			return []v1.ImageIndex{index, index, index}, err
		},
	}
	if err := r.Prepare(t.Context(), false, io.Discard); err != nil {
		t.Fatal(err)
	}
	tree.Git(t, root, "add", "--all")
	return root
}

// failures returns the output without the packages whose tests passed.
func failures(out []byte) string {
	var kept bytes.Buffer
	for line := range bytes.Lines(out) {
		if !bytes.HasPrefix(line, []byte("ok ")) && !bytes.HasPrefix(line, []byte("?  ")) {
			kept.Write(line)
		}
	}
	return kept.String()
}
