// Package cut writes a release into a tree: one version, and the digests of its images, into every place that names
// them. All of it happens in a copy of the tree, which is checked before a file of the tree is touched. No registry is
// asked: builds are reproducible, so the digests are known before anything is pushed.
package cut

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/blang/semver/v4"
	"sigs.k8s.io/kustomize/kyaml/yaml"

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

	// Out is where the release gets to. It may be in the tree, and is no change of it.
	Out string

	// Build builds the images of operator and agent of the sources in dir.
	Build func(ctx context.Context, dir, version string) (Digests, error)

	// AgentSources names the folders in dir that the agent is made of, as git writes them.
	AgentSources func(ctx context.Context, dir string) (folders []string, err error)
}

// Digests are those of the images that are built of the sources.
type Digests struct{ Operator, Agent string }

// facts are what a release finds out before it begins.
type facts struct {
	version    semver.Version
	oldVersion string // that the tree names so far
	oldImage   string // of the operator, as the manifests have it
	image      string // of the operator, with tag and digest
	oldAgent   string // the agent's image, as the manifests have it
	agent      string // the agent's image, with tag and digest
	agentKept  bool   // the agent's image is of an earlier build, and these sources make another
	createdAt  string
	history
}

// Run writes the release into the tree, or reports all that prevents it.
func (r *Release) Run(ctx context.Context, out io.Writer) error {
	copied, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(copied)
	f, made, err := r.write(ctx, copied)
	if err != nil {
		return err
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

// write copies the files of the commit into an empty folder, and writes the release into that copy.
func (r *Release) write(ctx context.Context, dir string) (*facts, *made, error) {
	f, err := r.find(ctx)
	if err != nil {
		return nil, nil, err
	}
	files, err := tracked(ctx, r.Root)
	if err != nil {
		return nil, nil, err
	}
	if err := worktree.CopyFiles(r.Root, dir, files); err != nil {
		return nil, nil, err
	}
	if err := r.build(ctx, dir, f); err != nil {
		return nil, nil, err
	}
	made, err := r.stamp(ctx, dir, f)
	if err != nil {
		return nil, nil, err
	}
	if err := agree(dir, f, made); err != nil {
		return nil, nil, fmt.Errorf("what was written does not agree, and nothing is changed: %w", err)
	}
	return f, made, nil
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
	if f.history, err = readHistory(ctx, r.Root, r.Version); err != nil {
		return nil, err
	}
	return f, errors.Join(f.validateOrder(), validateAPI(r.Root))
}

// build finds the references of the images that the sources in dir make.
func (r *Release) build(ctx context.Context, dir string, f *facts) error {
	built, err := r.Build(ctx, dir, r.Version)
	if err != nil {
		return err
	}
	f.image = r.operatorImage() + "@" + built.Operator
	if f.createdAt, err = r.createdAt(f); err != nil {
		return err
	}
	return r.chooseAgent(ctx, dir, f, built.Agent)
}

// createdAt is the time of the commit, unless the commit is one that this release was written into: the bundle that
// is made of it has to stay the same.
func (r *Release) createdAt(f *facts) (string, error) {
	if f.oldImage != f.image {
		return f.time, nil
	}
	base, err := yaml.ReadFile(filepath.Join(r.Root, bundle.Base))
	if err != nil {
		return "", fmt.Errorf("%s: %w", bundle.Base, err)
	}
	return base.GetAnnotations()["createdAt"], nil
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
