package cut

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/worktree"
	"github.com/example-inc/memcached-operator/test/crd"
)

const (
	crdFile  = "operator/config/crd/bases/cache.example.com_memcacheds.yaml"
	released = "test/crd/released"
)

func (r *Release) validate() error {
	version := bundle.ValidateVersion("version", r.Version)
	if version != nil {
		return version
	}
	if err := bundle.ValidateImage("image", r.operatorImage()); err != nil {
		return fmt.Errorf("--registry %q: %w: name host and path, as in registry.example.com/team", r.Registry, err)
	}
	if r.MemcachedImage == "" {
		return nil
	}
	return bundle.ValidateImage("memcached-image", r.MemcachedImage)
}

// validateTree refuses what would get into a release without being in its commit.
func (r *Release) validateTree(ctx context.Context) error {
	args := []string{"status", "--porcelain"}
	if r.Out != "" {
		out, err := r.outInTree()
		if err != nil {
			return err
		}
		args = append(args, out...)
	}
	status, err := worktree.Git(ctx, r.Root, args...)
	if err != nil {
		return err
	}
	if status != "" {
		return fmt.Errorf("a release is made of a commit, and the tree has changes that are in no commit: "+
			"commit or stash them first:\n%s", status)
	}
	shallow, err := worktree.Git(ctx, r.Root, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return err
	}
	if strings.TrimSpace(shallow) == "true" {
		return errors.New("this clone is shallow, and may lack tags and commits since the last release: " +
			"run git fetch --unshallow --tags")
	}
	tag := "v" + r.Version
	tags, err := worktree.Git(ctx, r.Root, "tag", "--list", tag, "--no-contains", "HEAD")
	if err == nil && tags != "" {
		err = fmt.Errorf("--version %q: the tag %s is at another commit: a release is made once", r.Version, tag)
	}
	return err
}

// outInTree makes git leave out the folder that the release gets to, if it is in the tree.
func (r *Release) outInTree() ([]string, error) {
	out, err := filepath.Abs(r.Out)
	if err != nil {
		return nil, err
	}
	root, err := filepath.Abs(r.Root)
	if err != nil {
		return nil, err
	}
	name, err := filepath.Rel(root, out)
	if err != nil || !filepath.IsLocal(name) {
		return nil, nil //nolint:nilerror // It is elsewhere, where git does not look.
	}
	return []string{"--", ".", ":(exclude,literal)" + filepath.ToSlash(name)}, nil
}

func (f *facts) validateOrder() error {
	if f.lastTag == "" {
		return nil
	}
	last, err := semver.Parse(strings.TrimPrefix(f.lastTag, "v"))
	if err != nil {
		return fmt.Errorf("the tag %s is no version: %w", f.lastTag, err)
	}
	if f.version.LE(last) {
		return fmt.Errorf("--version %q: is not newer than the last release, %s: choose a higher one", f.version, last)
	}
	return nil
}

// validateAPI compares the API with the one that was released last.
func validateAPI(root string) error {
	last, err := lastReleased(root)
	if err != nil || last == "" {
		return err
	}
	older, err := os.ReadFile(last)
	if err != nil {
		return err
	}
	newer, err := os.ReadFile(filepath.Join(root, crdFile))
	if err != nil {
		return err
	}
	violations, err := crd.Compare(older, newer)
	if err != nil {
		return err
	}
	errs := []error{}
	for _, violation := range violations {
		errs = append(errs, fmt.Errorf("since %s: %s", filepath.Base(last), violation))
	}
	return errors.Join(errs...)
}

func lastReleased(root string) (string, error) {
	files, err := filepath.Glob(filepath.Join(root, released, "*.yaml"))
	if err != nil || len(files) == 0 {
		return "", err
	}
	version := func(file string) semver.Version {
		v, _ := semver.Parse(strings.TrimSuffix(filepath.Base(file), ".yaml")) // What is no version comes first.
		return v
	}
	return slices.MaxFunc(files, func(a, b string) int { return version(a).Compare(version(b)) }), nil
}
