package cut

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/blang/semver/v4"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/worktree"
	"github.com/example-inc/memcached-operator/test/crd"
)

// validate returns an error if the release cannot be made. It also reads the history of the release from Git.
func (r *Release) validate(ctx context.Context, t *Tree) error {
	errs := []error{
		bundle.ValidateVersion("version", r.Version),
		bundle.ValidateImage("memcached-image", cmp.Or(r.MemcachedImage, bundle.ImageExample)),
	}
	if err := bundle.ValidateImage("image", r.Registry+"/"+bundle.Package+":x"); err != nil {
		errs = append(errs, fmt.Errorf("--registry %q: %w: name host and path, as in registry.example.com/team",
			r.Registry, err))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := r.validateTree(ctx); err != nil {
		return err
	}
	if err := r.readHistory(ctx, t); err != nil {
		return err
	}
	if t.LastTag != "" {
		last, err := semver.Parse(strings.TrimPrefix(t.LastTag, "v"))
		if err != nil {
			return fmt.Errorf("the tag %s is not a version: %w", t.LastTag, err)
		}
		if semver.MustParse(r.Version).LE(last) {
			return fmt.Errorf("--version %q is not newer than the last release, %s: choose a higher one", r.Version, last)
		}
	}
	return validateAPI(r.Root)
}

// validateTree returns an error if the release would have anything that is not in the released commit.
func (r *Release) validateTree(ctx context.Context) error {
	status, err := worktree.Git(ctx, r.Root, append([]string{"status", "--porcelain"}, r.withoutOut()...)...)
	if err != nil {
		return err
	}
	if status != "" {
		return fmt.Errorf("the tree has uncommitted changes, and a release is made of a commit: "+
			"commit or stash them first:\n%s", status)
	}
	shallow, err := worktree.Git(ctx, r.Root, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return err
	}
	if shallow == "true" {
		return errors.New("this clone is shallow, so tags and commits since the last release may be missing: run git " +
			"fetch --unshallow --tags")
	}
	tag, err := worktree.Git(ctx, r.Root, "tag", "--list", "v"+r.Version, "--no-contains", "HEAD")
	if err == nil && tag != "" {
		err = fmt.Errorf("--version %q: the tag v%s is at another commit: choose a higher version", r.Version, r.Version)
	}
	return err
}

// withoutOut returns arguments that make git ignore the folder to which the release is written, if that is in the tree.
func (r *Release) withoutOut() []string {
	out, outErr := filepath.Abs(r.Out)
	root, rootErr := filepath.Abs(r.Root)
	name, err := filepath.Rel(root, out)
	if errors.Join(outErr, rootErr, err) != nil || r.Out == "" || !filepath.IsLocal(name) {
		return nil
	}
	return []string{"--", ".", ":(exclude,literal)" + filepath.ToSlash(name)}
}

// readHistory reads the commits since the last release. It ignores the tag of this release, which may exist already.
func (r *Release) readHistory(ctx context.Context, t *Tree) error {
	out, err := worktree.Git(ctx, r.Root, "log", "-1", "--format=%H %cI")
	if err != nil {
		return err
	}
	commit, committed, _ := strings.Cut(out, " ")
	at, err := time.Parse(time.RFC3339, committed)
	if err != nil {
		return err
	}
	t.Commit, t.Time = commit, at.UTC().Format(time.RFC3339)
	span := "HEAD"
	t.LastTag, err = worktree.Git(ctx, r.Root,
		"describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "--exclude", "v"+r.Version)
	if err == nil { // The command fails if there is no tag.
		span = t.LastTag + "..HEAD"
	}
	t.Subjects, err = worktree.List(ctx, r.Root, "log", "--no-merges", "--format=%s", span)
	return err
}

// validateAPI compares the API with the API of each earlier release.
func validateAPI(root string) error {
	newer, err := os.ReadFile(filepath.Join(root, crdFile))
	if err != nil {
		return err
	}
	released, err := filepath.Glob(filepath.Join(root, releasedCRD, "*.yaml"))
	errs := []error{err}
	for _, file := range released {
		older, readErr := os.ReadFile(file)
		violations, err := crd.Compare(older, newer)
		errs = append(errs, readErr, err)
		for _, violation := range violations {
			errs = append(errs, fmt.Errorf("since %s: %s", filepath.Base(file), violation))
		}
	}
	return errors.Join(errs...)
}
