package cut

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/tree"
)

func TestOnlyAReleaseIsReplaced(t *testing.T) {
	tests := map[string]struct {
		prepare func(t *testing.T, out string)
		during  func(t *testing.T, out string) // while the new release is written
		refused string
	}{
		"a folder that does not exist": {},
		"an empty folder":              {prepare: func(_ *testing.T, out string) { _ = os.Mkdir(out, 0o755) }},
		"an earlier release":           {prepare: small},
		"a link to an earlier release": {prepare: func(t *testing.T, out string) {
			small(t, out+"-real")
			if err := os.Symlink(out+"-real", out); err != nil {
				t.Fatal(err)
			}
		}},
		"a folder of other files": {
			prepare: func(t *testing.T, out string) { touch(t, out, "notes") }, refused: "something else than a release",
		},
		"a release with another file": {
			prepare: func(t *testing.T, out string) { small(t, out); touch(t, out, "mine.txt") }, refused: "after SHA256SUMS was written: mine.txt",
		},
		"a file that appears in the meantime": {
			prepare: small, during: func(t *testing.T, out string) { touch(t, out, "mine.txt") }, refused: "mine.txt",
		},
		"a file": {
			prepare: func(t *testing.T, out string) { touch(t, filepath.Dir(out), "dist") }, refused: "not a directory",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			out := filepath.Join(parent, "dist")
			if tc.prepare != nil {
				tc.prepare(t, out)
			}
			err := replace(t.Context(), out, func(dir string) error {
				touch(t, dir, "new")
				if tc.during != nil {
					tc.during(t, out)
				}
				return os.Chmod(filepath.Join(dir, "new"), 0o600)
			})
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Errorf("error %v, want %q", err, tc.refused)
				}
				if left, _ := filepath.Glob(filepath.Join(parent, ".dist*")); len(left) > 0 {
					t.Errorf("it left %q behind", left)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(filepath.Join(out, "new"))
			if held := tree.Read(t, out); err != nil || info.Mode().Perm() != 0o644 || len(held) != 1 {
				t.Errorf("the folder holds %q, error %v", held, err)
			}
		})
	}
}

// small writes a small release into a new folder.
func small(t *testing.T, dir string) {
	t.Helper()
	c := &Tree{out: dir}
	if err := c.writeFile("install.yaml", []byte("a: b\n")); err != nil {
		t.Fatal(err)
	}
	seal(t, c)
}

func seal(t *testing.T, c *Tree) {
	t.Helper()
	if err := c.seal(); err != nil {
		t.Fatal(err)
	}
}

func touch(t *testing.T, dir, name string) {
	t.Helper()
	tree.Write(t, dir, map[string]string{name: "x"})
}
