package verify

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	log "github.com/sirupsen/logrus"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

func TestMain(m *testing.M) {
	log.SetLevel(log.ErrorLevel) // Argo CD's packages
	os.Exit(m.Run())
}

// plain is the tree without options, for one architecture. It is for tests that do not depend on the architecture.
var plain = []variant{{architecture: "amd64"}}

// cache is shared by all tests, because most of the tree is the same in each test.
var cache = tree.Cache{}

var load = sync.OnceValues(func() (tree.Files, error) {
	_, files, err := tree.Load("../../..")
	return files, err
})

// repository returns the repository as it is, with whatever settings its user has.
func repository(t *testing.T) tree.Files {
	t.Helper()
	files, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// shipped returns the repository with settings that are all examples, even if a fork has set another registry.
func shipped(t *testing.T) tree.Files {
	t.Helper()
	files := repository(t)
	files = files.With(tree.Files{tree.SettingsFile: files["scripts/settings/values/testdata/settings.yaml"]})
	return apply(t, files, replace(tree.SettingsFile, `registry\.example\.com`, "images.example.com"))
}

// taken returns the repository as it is after gitops-init.
func taken(t *testing.T) tree.Files {
	t.Helper()
	return apply(t, shipped(t),
		replace(tree.SettingsFile, `git\.example\.com`, "git.acme.test"),
		replace(tree.SettingsFile, `images\.example\.com/memcached-operator:.*`, "registry.acme.test/memcached-operator:7.0.0"),
		replace(tree.SettingsFile, `snapshotImage: .*`, "snapshotImage: registry.acme.test/memcached-snapshot:7"),
		replace(tree.SettingsFile, `agentImage: .*`, "agentImage: registry.acme.test/memcached-agent:7"),
		replace(tree.SettingsFile, `images\.example\.com/memcached-operator-catalog@.*`,
			"registry.acme.test/memcached-operator-catalog@sha256:"+strings.Repeat("7", 64)),
		replace(tree.SettingsFile, `memcachedImage: .*`, "memcachedImage: registry.acme.test/memcached:7"),
	)
}

// edit changes a copy of the files. It fails the test if there is nothing to change.
type edit func(*testing.T, tree.Files) tree.Files

func apply(t *testing.T, files tree.Files, edits ...edit) tree.Files {
	t.Helper()
	for _, edit := range edits {
		files = edit(t, files)
	}
	return files
}

// replace replaces each match of a regular expression in a file.
func replace(file, pattern, with string) edit {
	return func(t *testing.T, files tree.Files) tree.Files {
		t.Helper()
		expression := regexp.MustCompile(pattern)
		if !expression.Match(files[file]) {
			t.Fatalf("%s holds nothing that matches %s", file, pattern)
		}
		return files.With(tree.Files{file: expression.ReplaceAll(files[file], []byte(with))})
	}
}

// unselect makes kustomize no longer fill some fields from the settings: those whose list matches a regular expression.
func unselect(fields string) edit {
	return replace("gitops/settings/kustomization.yaml", `- select: \{[^}]*\}(\n +fieldPaths: )`+fields, "- select: {kind: Nothing}$1[x]")
}

// write writes a file, or removes it if there is no content.
func write(file, content string) edit {
	return func(_ *testing.T, files tree.Files) tree.Files {
		if content == "" {
			return files.With(tree.Files{file: nil})
		}
		return files.With(tree.Files{file: []byte(content)})
	}
}

func verified(t *testing.T, o Options) Report {
	t.Helper()
	if o.cache == nil {
		o.cache = cache
	}
	report, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// found fails the test unless the report has an error of this rule whose text has all of the words.
func found(t *testing.T, report Report, rule string, words []string) {
	t.Helper()
	if !slices.ContainsFunc(report.Problems, func(p Problem) bool {
		return p.Level == Error && p.Rule == rule && p.File != "" && p.Fix != "" && containsAll(p.String(), words)
	}) {
		t.Errorf("no error of the rule %q with %q: %v", rule, words, report.Problems)
	}
}

func containsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
