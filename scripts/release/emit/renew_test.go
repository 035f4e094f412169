package emit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/emit"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const root = "../../.."

func TestABundleThatIsRenewedKeepsWhatItWasGiven(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("1", 64)
	given := bundle.Options{
		Version: "1.2.0", Image: "ghcr.io/acme/memcached-operator:1.2.0", Channels: []string{"candidate", "stable"},
		DefaultChannel: "stable",
	}
	tests := map[string]func(o *bundle.Options){
		"as little as possible":   func(*bundle.Options) {},
		"a pull Secret":           func(o *bundle.Options) { o.PullSecret = "registry" },
		"the agent's image":       func(o *bundle.Options) { o.AgentImage = "ghcr.io/acme/memcached-agent:9.9.9" },
		"memcached's image":       func(o *bundle.Options) { o.MemcachedImage = "ghcr.io/acme/cache:1.6.1" },
		"another tag of the same": func(o *bundle.Options) { o.MemcachedImage = "docker.io/library/memcached:1.6.1" },
		"images by digest": func(o *bundle.Options) {
			o.Image = "ghcr.io/acme/memcached-operator" + digest
			o.AgentImage, o.MemcachedImage = "ghcr.io/acme/memcached-agent"+digest, "docker.io/library/memcached"+digest
		},
	}
	for name, set := range tests {
		t.Run(name, func(t *testing.T) {
			o := given
			set(&o)
			tree := sources(t)
			dir := filepath.Join(tree, bundle.Dir)
			if err := emit.Bundle(t.Context(), tree, dir, o); err != nil {
				t.Fatal(err)
			}
			if err := emit.Catalog(dir, "ghcr.io/acme/memcached-operator-bundle:v1.2.0"); err != nil {
				t.Fatal(err)
			}
			before := read(t, dir)
			if err := emit.Renew(t.Context(), tree); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, read(t, dir)); diff != "" {
				t.Errorf("the bundle (-before +after):\n%s", diff)
			}
		})
	}
}

// sources are what a bundle is made of.
func sources(t *testing.T) string {
	t.Helper()
	tree := t.TempDir()
	if err := os.CopyFS(filepath.Join(tree, "operator/config"), os.DirFS(root+"/operator/config")); err != nil {
		t.Fatal(err)
	}
	if err := worktree.CopyFiles(root, tree, []string{values.Path}); err != nil {
		t.Fatal(err)
	}
	return tree
}

func read(t *testing.T, dir string) bundle.Files {
	t.Helper()
	files, err := bundle.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return files
}
