package cut

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// repository copies what a release works on into a repository of its own, as it was after the release 0.1.0.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, room := range []string{"operator/config", "overlays", "gitops", templates} {
		if err := os.CopyFS(filepath.Join(root, room), os.DirFS(filepath.Join("../../..", room))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(root, releasedTemplates(""))); err != nil { // those of later releases
		t.Fatal(err)
	}
	const image = "registry.example.com/memcached-operator:0.1.0"
	manager := imageLine.ReplaceAllString(read(t, root, managerFile), "image: "+image)
	manager = memcachedValue.ReplaceAllString(manager, "${1}"+oldMemcached)
	writeFile(t, root, managerFile, agentLine.ReplaceAllString(manager, "value: "+oldAgent))
	settings := memcachedSetting.ReplaceAllString(read(t, root, values.Path), "memcachedImage: "+oldMemcached)
	writeFile(t, root, values.Path, agentSetting.ReplaceAllString(settings, "agentImage: "+oldAgent))
	writeFile(t, root, agentVersion, "0.1.0\n")
	writeFile(t, root, "operator/cmd/agent/main.go", "package main\n")
	writeFile(t, root, makefile, "VERSION ?= 0.1.0\nREGISTRY ?= registry.example.com\n")
	writeFile(t, root, "docs/install.md", "Since 0.1.0.\n\n\tmake image VERSION=0.1.0\n\tnewName: r.io/memcached-operator\n\tnewTag: 0.1.0\n")
	writeFile(t, root, released+"/0.1.0.yaml", read(t, root, crdFile))
	dir := filepath.Join(root, bundle.Dir)
	options := bundle.Options{Version: "0.1.0", Image: image, Channels: []string{"stable", "candidate"}}
	if err := catalog.WriteBundle(t.Context(), root, dir, options); err != nil {
		t.Fatal(err)
	}
	if err := catalog.AddBundle(dir, "registry.example.com/memcached-operator-bundle:v0.1.0"); err != nil {
		t.Fatal(err)
	}
	mustGit(t, root, "init", "--quiet")
	commit(t, root, "Everything before")
	mustGit(t, root, "tag", "v0.1.0")
	writeFile(t, root, "one", "")
	commit(t, root, "one: a change")
	return root
}

const (
	documented = "docs/install.md"

	// oldAgent is the agent's image before the first release that knows of it by digest.
	oldAgent = "registry.example.com/memcached-agent:0.1.0"

	// oldMemcached is memcached's, whichever the last release was made with.
	oldMemcached = "docker.io/library/memcached:1.6.45"
)

var (
	imageLine    = regexp.MustCompile(`image: \S*/memcached-operator\S*`)
	agentLine    = regexp.MustCompile(`value: \S*/memcached-agent\S*`)
	agentSetting = regexp.MustCompile(`agentImage: \S*`)

	memcachedValue   = regexp.MustCompile(`(RELATED_IMAGE_MEMCACHED\n +value: )\S+`)
	memcachedSetting = regexp.MustCompile(`memcachedImage: \S*`)
)

func commit(t *testing.T, root, subject string) {
	t.Helper()
	t.Setenv("GIT_COMMITTER_DATE", "2026-01-31T13:00:00+01:00")
	mustGit(t, root, "add", "--all")
	mustGit(t, root, "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message", subject)
}

func mustGit(t *testing.T, root string, args ...string) {
	t.Helper()
	if _, err := worktree.Git(t.Context(), root, args...); err != nil {
		t.Fatal(err)
	}
}

// snapshot is a tree's content, without Git's own.
func snapshot(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := walk(root, func(name string, content []byte) error {
		if !strings.HasPrefix(name, ".git/") {
			files[name] = string(content)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(t *testing.T, root, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func writeFile(t *testing.T, root, name, content string) {
	t.Helper()
	if err := worktree.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// assertRefused checks that a release fails with these words, and writes nothing: neither files nor that it did.
func assertRefused(t *testing.T, r *Release, words []string) {
	t.Helper()
	before := snapshot(t, r.Root)
	var out strings.Builder
	err := r.Run(t.Context(), &out)
	if err == nil {
		t.Fatalf("no error:\n%s", &out)
	}
	for _, want := range words {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	if diff := cmp.Diff(before, snapshot(t, r.Root)); diff != "" || out.Len() > 0 {
		t.Errorf("something was written: %s\n%s", &out, diff)
	}
}
