package dist

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write writes a small release into a folder.
func write(t *testing.T, dir string) {
	t.Helper()
	c := &Content{Stamped: stamped, Out: dir}
	if err := c.writeFile("install.yaml", []byte("a: b\n")); err != nil {
		t.Fatal(err)
	}
	seal(t, c)
}

func TestOnlyAReleaseIsReplaced(t *testing.T) {
	tests := map[string]struct {
		prepare func(t *testing.T, out string)
		refused string
	}{
		"a folder that does not exist": {prepare: func(*testing.T, string) {}},
		"an empty folder":              {prepare: func(t *testing.T, out string) { mkdir(t, out) }},
		"an earlier release":           {prepare: func(t *testing.T, out string) { mkdir(t, out); write(t, out) }},
		"a folder of other files": {
			func(t *testing.T, out string) { mkdir(t, out); touch(t, out, "notes") }, "holds files that are no release",
		},
		"a release with another file": {
			func(t *testing.T, out string) { mkdir(t, out); write(t, out); touch(t, out, "mine.txt") }, "such as mine.txt",
		},
		"a file": {func(t *testing.T, out string) { touch(t, filepath.Dir(out), filepath.Base(out)) }, "not a directory"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			out := filepath.Join(parent, "dist")
			tc.prepare(t, out)
			p, err := openPlace(out)
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Errorf("error %v, want %q", err, tc.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			touch(t, p.temporary, "new")
			if err := os.Chmod(filepath.Join(p.temporary, "new"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := p.finish(); err != nil {
				t.Fatal(err)
			}
			p.close()
			assertHolds(t, parent, "dist")
			assertHolds(t, out, "new")
			if info, err := os.Stat(filepath.Join(out, "new")); err != nil || info.Mode().Perm() != 0o644 {
				t.Errorf("mode %v, error %v, want 0644", info.Mode(), err)
			}
		})
	}
}

func TestALinkToAFolderStays(t *testing.T) {
	parent := t.TempDir()
	out, link := filepath.Join(parent, "real"), filepath.Join(parent, "link")
	mkdir(t, out)
	if err := os.Symlink(out, link); err != nil {
		t.Fatal(err)
	}
	p, err := openPlace(link)
	if err != nil {
		t.Fatal(err)
	}
	touch(t, p.temporary, "new")
	if err := p.finish(); err != nil {
		t.Fatal(err)
	}
	assertHolds(t, out, "new")
	if to, err := os.Readlink(link); err != nil || to != out {
		t.Errorf("the link leads to %q, error %v", to, err)
	}
}

func TestAReleaseThatFailsLeavesNothingBehind(t *testing.T) {
	parent := t.TempDir()
	out := filepath.Join(parent, "dist")
	mkdir(t, out)
	write(t, out)
	p, err := openPlace(out)
	if err != nil {
		t.Fatal(err)
	}
	touch(t, out, "mine.txt") // Written meanwhile.
	if err := p.finish(); err == nil {
		t.Error("a file that is not ours is lost")
	}
	p.close()
	assertHolds(t, parent, "dist")
	assertHolds(t, out, "SHA256SUMS", "install.yaml", "mine.txt", "release.json")
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func touch(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func assertHolds(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}
