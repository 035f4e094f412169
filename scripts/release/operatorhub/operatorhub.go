// Package operatorhub writes a bundle in the layout of the OperatorHub community repositories.
package operatorhub

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

const (
	// CI is the source of ci.yaml.
	CI = "operator/config/manifests/operatorhub/ci.yaml"

	// exampleReviewer is the reviewer in the file CI until users replace it by other names.
	exampleReviewer = "example-inc"
)

//go:embed ci.schema.yaml
var ciSchema []byte

// Write writes the bundle of the repository at root into out, which may be a clone of a community repository: the
// directories of other versions stay as they are. It returns the version's directory, and notes on what to do before a
// pull request. It writes nothing that the pipelines of the community repositories would refuse.
func Write(root, out string) (dir string, notes []string, err error) {
	files, err := bundle.Read(filepath.Join(root, bundle.Dir))
	if err != nil {
		return "", nil, err
	}
	// The Dockerfiles are not part of a submitted bundle.
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasSuffix(name, ".Dockerfile") })
	v, err := files.Version()
	if err != nil {
		return "", nil, err
	}
	operator := filepath.Join(out, "operators", bundle.Package)
	dir = filepath.Join(operator, v.Version)
	ci, notes, err := readCI(root, filepath.Join(operator, "ci.yaml"))
	if err != nil {
		return "", nil, err
	}
	var others []string
	published, err := filepath.Glob(filepath.Join(operator, "*", "metadata"))
	for _, metadata := range published {
		if version := filepath.Base(filepath.Dir(metadata)); version != v.Version {
			others = append(others, version)
		}
	}
	err = errors.Join(err, files.Check(), bundle.Conforms(ciSchema, "ci.yaml", ci), checkPublished(dir, files, v, others))
	if err != nil {
		return "", nil, fmt.Errorf("the repositories would refuse %s, nothing is written: %w", v.Version, err)
	}
	if err := files.Write(dir); err != nil {
		return "", nil, err
	}
	return dir, append(notes, notesOn(v, others)...), os.WriteFile(filepath.Join(operator, "ci.yaml"), []byte(ci), 0o644)
}

// readCI returns the content of the community repository's ci.yaml or, if the repository has none, of this project's
// file (CI). An existing file is kept, because the repository's pipelines or other maintainers may have edited it.
func readCI(root, path string) (ci string, notes []string, err error) {
	source, err := os.ReadFile(filepath.Join(root, CI))
	if err != nil {
		return "", nil, err
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = source
	case err != nil:
		return "", nil, err
	case string(text) != string(source):
		notes = append(notes, fmt.Sprintf("%s was not changed, and differs from %s: compare them", path, CI))
	}
	var c struct{ Reviewers []string }
	if err := yaml.Unmarshal(text, &c); err != nil {
		return "", nil, fmt.Errorf("ci.yaml: %w", err)
	}
	if slices.Contains(c.Reviewers, exampleReviewer) {
		notes = append(notes, fmt.Sprintf("the reviewer %s in ci.yaml is an example, but a GitHub user of that name "+
			"could merge pull requests for your operator: write your users into ci.yaml and into %s", exampleReviewer, CI))
	}
	return string(text), notes, nil
}

// checkPublished requires that the version is new or has the same content, because a published version never changes.
// If the repository has other versions, this version must replace one of them. Otherwise the other versions would no
// longer be in the update graph.
func checkPublished(dir string, files bundle.Files, v *bundle.Version, others []string) error {
	if len(others) > 0 && !slices.Contains(others, v.Replaces) {
		return fmt.Errorf("spec.replaces is %q, but the repository has only %v: submit the replaced version first",
			v.Spec.Replaces, others)
	}
	have, err := bundle.Read(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && maps.Equal(have, files) {
		return nil
	}
	return errors.Join(err, fmt.Errorf("%s holds another bundle of this version, which may be published: "+
		"release a new version, or remove the directory", dir))
}

// notesOn returns what the user has to do before a pull request with this version, and what no rule can check.
func notesOn(v *bundle.Version, others []string) (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	for _, related := range v.Spec.RelatedImages {
		switch host, _, _ := strings.Cut(related.Image, "/"); {
		case strings.HasSuffix(host, "example.com"):
			note("nobody can pull %s: run make release-prepare with your REGISTRY, commit, and make a release of that commit",
				related.Image)
		case strings.Contains(related.Image, "@sha256:"):
		case related.Name == "memcached": // Only the user knows its digest.
			note("%s is not named by digest: run make release-prepare with MEMCACHED_IMAGE=%[1]s@sha256:...", related.Image)
		default:
			note("%s is not named by digest: run make release-prepare", related.Image)
		}
	}
	for _, maintainer := range v.Spec.Maintainers {
		if strings.HasSuffix(maintainer.Email, "example.com") {
			note("%s is an example: write who maintains it into %s", maintainer.Email, bundle.Base)
		}
	}
	if v.Spec.Replaces != "" && len(others) == 0 {
		note("%s must be in the repository already: this version replaces it", v.Spec.Replaces)
	}
	return notes
}
