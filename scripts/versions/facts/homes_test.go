package facts

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// TestAHomeWithoutAVersionIsRefused: what is no version could be written into the copies, and never be found there again.
func TestAHomeWithoutAVersionIsRefused(t *testing.T) {
	const image = `DefaultMemcachedImage = "docker.io/library/memcached:`
	tests := map[string]struct{ home, text, want string }{
		"a word":                         {"Makefile", "VERSION ?= abc\n", `Makefile: operator is "abc", which is no semantic`},
		"a v before it":                  {"Makefile", "VERSION ?= v1.2.3\n", `is "v1.2.3", which is no semantic version: write three`},
		"two numbers":                    {"Makefile", "VERSION ?= 1.2\n", `is "1.2", which is no semantic version`},
		"a space behind it":              {"Makefile", "VERSION ?= 1.2.3 \n", `is "1.2.3 ", which is no semantic version`},
		"nothing":                        {"Makefile", "VERSION ?= \n", `is "", which is no semantic version`},
		"build metadata":                 {"Makefile", "VERSION ?= 1.2.3+a\n", `is "1.2.3+a", which has build metadata`},
		"a home that is gone":            {"Makefile", "all:\n", "Makefile: operator is not there"},
		"a file that holds it alone":     {"operator/cmd/agent/VERSION", "x\n", `operator/cmd/agent/VERSION: agent is "x", which`},
		"more behind the version":        {"operator/internal/app/options.go", image + `1.6.45_2"`, `memcached is "1.6.45_2", which`},
		"a part of a text":               {"operator/internal/app/options.go", image + `latest"`, `memcached is "latest", which`},
		"a module without a third part":  {"scripts/cluster/builds/containerd/go.mod", "go 1.26\n", `Go at least is "1.26", which`},
		"an image with a digest, no tag": {"Dockerfile", "golang:@" + digest, `Go of the images is "", which`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			root := homes(t)
			if err := worktree.WriteFile(filepath.Join(root, tc.home), []byte(tc.text), 0o644); err != nil {
				t.Fatal(err)
			}
			found, err := read(root, filesIn(t, root))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("found %v, error %v, want %q", found, err, tc.want)
			}
		})
	}
}
