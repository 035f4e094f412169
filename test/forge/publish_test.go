package forge

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// released has the files of a small release.
var released = map[string]string{
	"SHA256SUMS": "", "install.yaml": "a: b\n", "release-notes.md": "# 0.2.0\n", "images/a/index.json": "{}",
	"charts/a-0.2.0.tgz": "chart", "sbom/a.spdx.json": "{}",
	"release.json": "{\n  \"time\": \"2026-01-31T12:00:00Z\",\n  \"images\": [\n    {\"repository\": \"registry.example.com/a\", " +
		"\"digest\": \"sha256:11\"}\n  ]\n}\n",
}

// recorder is a script that replaces a program that would contact the forge. It writes its arguments to a file.
const recorder = "#!/bin/sh\necho \"$(basename \"$0\") $*\" >> \"$CALLS\"\n"

func TestAReleaseIsSignedAndPublishedWithAllItsFiles(t *testing.T) {
	tests := map[string]struct{ tag, flag string }{
		"a version":   {"v0.2.0", ""},
		"a candidate": {"v0.2.0-rc.1", " --prerelease"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "dist")
			for name, content := range released {
				if err := worktree.WriteFile(filepath.Join(out, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want := []string{
				"cosign sign --yes registry.example.com/a@sha256:11",
				"cosign sign-blob --yes --bundle OUT.SHA256SUMS.sigstore.json OUT/SHA256SUMS",
				"cosign sign-blob --yes --bundle OUT.tar.gz.sigstore.json OUT.tar.gz",
				"gh release create " + tc.tag + " --verify-tag --title " + tc.tag + tc.flag + " --notes-file OUT/release-notes.md " +
					"OUT.tar.gz OUT.tar.gz.sigstore.json OUT.SHA256SUMS.sigstore.json " +
					"OUT/SHA256SUMS OUT/charts/a-0.2.0.tgz OUT/install.yaml OUT/release.json OUT/sbom/a.spdx.json",
			}
			if diff := cmp.Diff(want, callsOf(t, out, tc.tag, "release-sign", "release-publish")); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			sum := strings.Fields(shell(t, out, "sha256sum '"+out+".tar.gz'"))[0]
			subjects := "11  registry.example.com/a\n" + sum + "  " + out + ".tar.gz\n"
			if diff := cmp.Diff(subjects, page.Read(t, out+".subjects")); diff != "" {
				t.Errorf("what gets a provenance (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheArchiveOfAReleaseIsTheSameBytesAnywhere(t *testing.T) {
	var archives []string
	for _, mode := range []os.FileMode{0o600, 0o644} {
		out := filepath.Join(t.TempDir(), "dist")
		for name, content := range released {
			if err := worktree.WriteFile(filepath.Join(out, name), []byte(content), mode); err != nil {
				t.Fatal(err)
			}
		}
		callsOf(t, out, "v0.2.0", "release-sign")
		archives = append(archives, page.Read(t, out+".tar.gz"))
		const first = "-rw-r--r-- 0/0               0 2026-01-31 12:00 dist/SHA256SUMS\n"
		if list := shell(t, out, "TZ=UTC tar -tvzf '"+out+".tar.gz'"); !strings.Contains(list, first) {
			t.Errorf("the archive does not list %q:\n%s", first, list)
		}
	}
	if archives[0] != archives[1] {
		t.Error("the same release made two archives")
	}
}

// callsOf runs targets of the Makefile, and returns the programs that they called, with their arguments.
func callsOf(t *testing.T, out, tag string, targets ...string) []string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"cosign", "gh"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(recorder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	calls := filepath.Join(dir, "calls")
	t.Setenv("CALLS", calls)
	for _, target := range targets {
		shell(t, root, "make "+target+" OUT='"+out+"' TAG='"+tag+"'")
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(page.Read(t, calls), out, "OUT"), "\n"), "\n")
}

func shell(t *testing.T, dir, command string) string {
	t.Helper()
	run := exec.CommandContext(t.Context(), "bash", "-c", command)
	run.Dir, run.Stderr = dir, t.Output()
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return string(out)
}
