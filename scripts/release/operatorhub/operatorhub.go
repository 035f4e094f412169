// Package operatorhub lays a bundle out as the OperatorHub community repositories want it.
package operatorhub

import (
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
	"github.com/example-inc/memcached-operator/scripts/release/check"
)

const (
	// CI is the source of ci.yaml.
	CI = "operator/config/manifests/operatorhub/ci.yaml"

	// exampleReviewer is in CI until somebody writes a user of their own there.
	exampleReviewer = "example-inc"

	csvFile = "manifests/" + bundle.Package + ".clusterserviceversion.yaml"
)

// Written is what there is to say of a folder that was written.
type Written struct {
	Dir   string   // the version's
	Notes []string // what to do before a pull request
}

// Write writes the bundle of the repository at root into out, which may be a clone of a community repository: the
// folders of other versions stay as they are. It writes nothing that breaks a rule.
func Write(root, out string) (*Written, error) {
	s, csv, err := read(root)
	if err != nil {
		return nil, err
	}
	operator := filepath.Join(out, "operators", s.Package)
	if s.Others, err = versions(operator, s.Version); err != nil {
		return nil, err
	}
	kept, err := keepCI(filepath.Join(operator, "ci.yaml"), s)
	if err != nil {
		return nil, err
	}
	problems := slices.Concat(check.Bundle(s.Bundle), check.OperatorHub(*s))
	if err := check.Errors(problems); err != nil {
		return nil, fmt.Errorf("the repositories would refuse %s, nothing is written: %w", s.Version, err)
	}
	dir, files := filepath.Join(operator, s.Version), maps.Clone(s.Bundle)
	// Dockerfiles build images, and are no part of a bundle.
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasSuffix(name, ".Dockerfile") })
	if err := unchanged(dir, files); err != nil {
		return nil, err
	}
	for name, content := range files {
		if err := write(filepath.Join(dir, name), content); err != nil {
			return nil, err
		}
	}
	notes, err := reviewerNotes(s.CI)
	if err != nil {
		return nil, err
	}
	notes = slices.Concat(kept, csv.notes(s), notes)
	return &Written{Dir: dir, Notes: notes}, write(filepath.Join(operator, "ci.yaml"), s.CI)
}

// keepCI takes the ci.yaml that the repository has: its pipelines, and other maintainers, may have edited it.
func keepCI(path string, s *check.Submission) (notes []string, err error) {
	have, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if string(have) != s.CI {
		notes = append(notes, fmt.Sprintf("%s is kept as it was, and differs from %s: compare them", path, CI))
	}
	s.CI = string(have)
	return notes, nil
}

// reviewerNotes warn of the example: a GitHub user of that name could merge pull requests for the operator.
func reviewerNotes(ci string) (notes []string, err error) {
	var c struct{ Reviewers []string }
	if err := yaml.Unmarshal([]byte(ci), &c); err != nil {
		return nil, err
	}
	if slices.Contains(c.Reviewers, exampleReviewer) {
		notes = append(notes, fmt.Sprintf("the reviewer %s of ci.yaml is an example, and a GitHub user who could merge "+
			"pull requests for your operator: write your own users into ci.yaml and into %s", exampleReviewer, CI))
	}
	return notes, nil
}

// csv is what of a ClusterServiceVersion decides whether others can use it.
type csv struct {
	Spec struct {
		Version, Replaces string
		RelatedImages     []struct{ Name, Image string }
		Maintainers       []struct{ Email string }
	}
}

func read(root string) (*check.Submission, *csv, error) {
	files, err := bundle.Read(filepath.Join(root, bundle.Dir))
	if err != nil {
		return nil, nil, err
	}
	ci, err := os.ReadFile(filepath.Join(root, CI))
	if err != nil {
		return nil, nil, err
	}
	c := &csv{}
	if err := yaml.Unmarshal([]byte(files[csvFile]), c); err != nil {
		return nil, nil, fmt.Errorf("%s/%s: %w", bundle.Dir, csvFile, err)
	}
	return &check.Submission{Package: bundle.Package, Version: c.Spec.Version, CI: string(ci), Bundle: files}, c, nil
}

// notes are what a pull request with this version needs, and no rule can decide.
func (c *csv) notes(s *check.Submission) (notes []string) {
	for _, related := range c.Spec.RelatedImages {
		switch host, _, _ := strings.Cut(related.Image, "/"); {
		case strings.HasSuffix(host, "example.com"):
			notes = append(notes, fmt.Sprintf("nobody can pull %s: run make release-prepare with your REGISTRY, "+
				"and make a release of its commit", related.Image))
		case !strings.Contains(related.Image, "@sha256:"):
			fix := pin(related.Name, related.Image)
			notes = append(notes, fmt.Sprintf("%s is not named by digest: run %s", related.Image, fix))
		}
	}
	for _, maintainer := range c.Spec.Maintainers {
		if strings.HasSuffix(maintainer.Email, "example.com") {
			notes = append(notes, fmt.Sprintf("%s is an example: write who maintains it into %s", maintainer.Email, bundle.Base))
		}
	}
	if c.Spec.Replaces != "" && len(s.Others) == 0 {
		notes = append(notes, fmt.Sprintf("%s must be in the repository already: this version replaces it", c.Spec.Replaces))
	}
	return notes
}

// pin is the command that names an image of the bundle by digest. Only the user knows that of memcached.
func pin(name, image string) string {
	if name == "memcached" {
		return "make release-prepare with MEMCACHED_IMAGE=" + image + "@sha256:..."
	}
	return "make release-prepare"
}

// versions are the folders of other versions of the operator.
func versions(operator, own string) (others []string, err error) {
	entries, err := os.ReadDir(operator)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if entry.IsDir() && entry.Name() != own {
			others = append(others, entry.Name())
		}
	}
	return others, err
}

// unchanged refuses to write another bundle over that of a version: what is published never changes.
func unchanged(dir string, files bundle.Files) error {
	have, err := bundle.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !maps.Equal(have, files) {
		return fmt.Errorf("%s holds another bundle of this version, which may be published: "+
			"release a new version, or remove the folder", dir)
	}
	return nil
}

func write(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o644)
}
