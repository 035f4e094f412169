package repo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"
)

func TestRootIsFoundFromBelow(t *testing.T) {
	root := folder(t, Files{SettingsFile: []byte("data: {}\n"), "docs/a/b.md": []byte("b")})
	for _, below := range []string{".", "docs", "docs/a", "gitops/settings"} {
		got, err := Root(filepath.Join(root, below))
		if err != nil || got != root {
			t.Errorf("from %s: %q, %v", below, got, err)
		}
	}
	if _, err := Root(t.TempDir()); err == nil || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("elsewhere: %v", err)
	}
}

func TestLoadReadsWhatKustomizeMayNeed(t *testing.T) {
	root := folder(t, Files{
		"gitops/a.yaml": []byte("a"), "gitops/check.lua": []byte("lua"), ".git/config": []byte("git"),
		"main.go": []byte("package main"), "bin/program": make([]byte, maxFile+1), "my file.md": []byte("m"),
	})
	files, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	want := Files{"gitops/a.yaml": []byte("a"), "gitops/check.lua": []byte("lua"), "my file.md": []byte("m")}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	system, err := files.System()
	if err != nil {
		t.Fatal(err)
	}
	if content, err := system.ReadFile("/gitops/a.yaml"); err != nil || string(content) != "a" {
		t.Errorf("in the file system: %q, %v", content, err)
	}
}

// folder is a folder with the files in it.
func folder(t *testing.T, files Files) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, files)
	return root
}

func write(t *testing.T, root string, files Files) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAtReadsARevision(t *testing.T) {
	for name, below := range map[string]string{"a repository of its own": "", "a folder of a repository": "operators/memcached"} {
		t.Run(name, func(t *testing.T) {
			top := folder(t, nil)
			repository, err := git.PlainInit(top, false)
			if err != nil {
				t.Fatal(err)
			}
			root := filepath.Join(top, filepath.FromSlash(below))
			for _, content := range []string{"one", "two"} {
				write(t, root, Files{"gitops/a.yaml": []byte(content), "gitops/main.go": []byte("package a")})
				commit(t, repository)
			}
			write(t, root, Files{"gitops/a.yaml": []byte("three")})
			for revision, want := range map[string]string{"HEAD": "two", "HEAD~1": "one", "master": "two"} {
				files, err := At(root, revision)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(Files{"gitops/a.yaml": []byte(want)}, files); diff != "" {
					t.Errorf("%s (-want +got):\n%s", revision, diff)
				}
			}
			if _, err := At(root, "nowhere"); err == nil || !strings.Contains(err.Error(), `"nowhere"`) {
				t.Errorf("an unknown revision: %v", err)
			}
		})
	}
}

func commit(t *testing.T, repository *git.Repository) {
	t.Helper()
	work, err := repository.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	if err := work.AddWithOptions(&git.AddOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := work.Commit("change", &git.CommitOptions{Author: &object.Signature{Name: "test"}}); err != nil {
		t.Fatal(err)
	}
}
