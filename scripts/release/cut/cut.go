// Package cut makes a release: it writes one version, and the digests of what was pushed, into every place that names
// them. All of it happens in a copy of the tree, which is looked through before a file of the tree is touched.
package cut

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/blang/semver/v4"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// Release is what a release is told.
type Release struct {
	Root           string // of the repository
	Version        string
	Registry       string // of all images, host and path
	MemcachedImage string // of a Memcached that names none; empty: as it was
	DryRun         bool

	// Digest asks a registry for an image, and returns its reference by digest.
	Digest func(ctx context.Context, image string) (string, error)

	// Build builds the operator's image of the sources in dir, and returns its digest.
	Build func(ctx context.Context, dir, version string) (digest string, err error)

	// BuildAgent builds the agent's image of the sources in dir, and returns its digest.
	BuildAgent func(ctx context.Context, dir string) (digest string, err error)

	// AgentSources names the folders in dir that the agent is made of, as git writes them.
	AgentSources func(ctx context.Context, dir string) (folders []string, err error)
}

// facts are what a release finds out before it begins.
type facts struct {
	version    semver.Version
	oldVersion string // that the tree names so far
	oldImage   string // of the operator, as the manifests have it
	image      string // of the operator, with tag and digest
	oldAgent   string // the agent's image, as the manifests have it
	agent      string // the agent's image, with tag and digest
	createdAt  string
	subjects   []string // of the commits since the last release
	lastTag    string
}

// Run makes the release, or tells all that stands against it.
func (r *Release) Run(ctx context.Context, out io.Writer) error {
	f, err := r.find(ctx)
	if err != nil {
		return err
	}
	files, err := tracked(ctx, r.Root)
	if err != nil {
		return err
	}
	copied, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(copied)
	if err := worktree.CopyFiles(r.Root, copied, files); err != nil {
		return err
	}
	made, err := r.stamp(ctx, copied, f)
	if err != nil {
		return err
	}
	if err := agree(copied, f, made); err != nil {
		return fmt.Errorf("what was written does not agree, and nothing is changed: %w", err)
	}
	changed, err := differences(r.Root, copied)
	if err != nil {
		return err
	}
	if !r.DryRun {
		if err := worktree.CopyFiles(copied, r.Root, changed); err != nil {
			return err
		}
	}
	r.report(out, f, made, changed)
	return nil
}

// find checks all that the release is told, and collects what it needs to know.
func (r *Release) find(ctx context.Context) (*facts, error) {
	if err := errors.Join(r.validate(), r.validateTree(ctx)); err != nil {
		return nil, err
	}
	f := &facts{version: semver.MustParse(r.Version)}
	var err error
	if f.oldVersion, f.oldImage, err = current(r.Root); err != nil {
		return nil, err
	}
	if f.oldAgent, err = managerAgent(r.Root); err != nil {
		return nil, err
	}
	if f.createdAt, err = commitTime(ctx, r.Root); err != nil {
		return nil, err
	}
	if f.lastTag, f.subjects, err = history(ctx, r.Root); err != nil {
		return nil, err
	}
	if err := errors.Join(f.validateOrder(), validateAPI(r.Root)); err != nil {
		return nil, err
	}
	if f.image, err = r.pushedImage(ctx); err != nil {
		return nil, err
	}
	f.agent, err = r.pushedAgent(ctx, f)
	return f, err
}

// operatorImage is the operator's image by its tag.
func (r *Release) operatorImage() string { return r.Registry + "/" + bundle.Package + ":" + r.Version }

func (r *Release) bundleImage() string { return r.Registry + "/" + bundle.Package + "-bundle" }

func (r *Release) catalogImage() string { return r.Registry + "/" + bundle.Package + "-catalog" }

// differences lists the files that are not in both folders alike.
func differences(old, changed string) ([]string, error) {
	var names []string
	err := walk(changed, func(name string, content []byte) error {
		before, err := os.ReadFile(filepath.Join(old, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err != nil || string(before) != string(content) {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}
