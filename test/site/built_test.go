//go:build e2e

package site

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const (
	root = "../.."
	base = "/under/a/path/" // the path of the site in the address on the forge
	tag  = "v0.1.0"
)

// built is the site of a copy of this repository in which a release was made, and the address of a server for the site.
type built struct {
	repository, out, address string
}

func build(t *testing.T) built {
	t.Helper()
	b := built{repository: t.TempDir(), out: filepath.Join(t.TempDir(), "site")}
	if err := worktree.CopyRepository(t.Context(), root, b.repository); err != nil {
		t.Fatal(err)
	}
	if _, err := worktree.Git(t.Context(), b.repository, "tag", tag); err != nil {
		t.Fatal(err)
	}
	err := worktree.Run(t.Context(), b.repository, worktree.Environment(),
		"make", "site", "BASE="+base, "ARGS=--out "+b.out)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.StripPrefix(base, http.FileServer(http.Dir(b.out))))
	t.Cleanup(server.Close)
	b.address = server.URL + base
	return b
}

// pages returns the addresses of the site's pages.
func (b built) pages(t *testing.T) (addresses []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(b.out, "main"), func(file string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".html" || entry.Name() == "404.html" {
			return err
		}
		name, err := filepath.Rel(b.out, file)
		addresses = append(addresses, b.address+strings.TrimSuffix(filepath.ToSlash(name), "index.html"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return addresses
}

// source returns the Markdown of a page.
func (b built) source(t *testing.T, address string) string {
	t.Helper()
	file := strings.TrimPrefix(address, b.address+"main/")
	switch {
	case file == "":
		file = "site/index.md"
	case strings.HasSuffix(file, "/"):
		file += "README.md"
	default:
		file = strings.TrimSuffix(file, ".html") + ".md"
	}
	return page.Read(t, filepath.Join(b.repository, file))
}
