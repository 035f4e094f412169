// Package cut writes a release into a tree: its version, and the digests of its images, into every place that names
// them. It works in a copy of the tree and asks no registry: builds are reproducible, so the digests are known before
// anything is pushed.
package cut

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// Release is what a release is made of.
type Release struct {
	Root           string // of the repository, whose commit is released
	Version        string
	Registry       string // of all images, host and path
	MemcachedImage string // of a Memcached that names none; empty: as in the manifests

	// Out is the folder that the release is written to. It may be in the tree, and is not a change of it.
	Out string

	// Build builds the images of operator and agent from the sources in dir.
	Build func(ctx context.Context, dir, version string) (operator, agent v1.ImageIndex, err error)
}

// Tree is a tree with a release in it.
type Tree struct {
	Dir       string
	Version   string
	Registry  string
	Images    []Image // of operator, agent, bundle and catalog
	Memcached string  // image of a Memcached that names none; it may lack a digest
	History

	oldAgent string // the agent's image in the manifests before
}

// Image is one of the images that a release consists of.
type Image struct {
	Name       string `json:"name"`       // such as memcached-operator
	Repository string `json:"repository"` // registry and path
	Tag        string `json:"tag"`
	Digest     string `json:"digest"`

	// Layout is the image's folder in the release. An image of an earlier release has none.
	Layout string `json:"layout,omitempty"`

	// Index is what Layout holds.
	Index v1.ImageIndex `json:"-"`
}

// NewImage names an image that was built.
func NewImage(repository, tag string, index v1.ImageIndex) (Image, error) {
	digest, err := index.Digest()
	name := path.Base(repository)
	return Image{
		Name: name, Repository: repository, Tag: tag, Digest: digest.String(), Layout: "images/" + name, Index: index,
	}, err
}

// ByTag is the image's reference by tag alone.
func (i Image) ByTag() string { return i.Repository + ":" + i.Tag }

// ByDigest is the image's reference by digest alone.
func (i Image) ByDigest() string { return i.Repository + "@" + i.Digest }

// String is the image's reference by tag and digest.
func (i Image) String() string { return i.ByTag() + "@" + i.Digest }

// WriteTo copies the files of the commit into an empty folder, and writes the release into them.
func (r *Release) WriteTo(ctx context.Context, dir string) (*Tree, error) {
	history, err := r.validate(ctx)
	if err != nil {
		return nil, err
	}
	files, err := worktree.Git(ctx, r.Root, "ls-files", "-z")
	if err != nil {
		return nil, err
	}
	names := strings.FieldsFunc(files, func(r rune) bool { return r == 0 })
	if err := worktree.CopyFiles(r.Root, dir, names); err != nil {
		return nil, err
	}
	t := &Tree{Dir: dir, Version: r.Version, Registry: r.Registry, History: history}
	if err := r.build(ctx, t); err != nil {
		return nil, err
	}
	if err := r.stamp(t, names); err != nil {
		return nil, err
	}
	return t, t.stampOLM(ctx)
}

// Prepare writes the release into the tree at Root, unless it is a dry run, and reports what it changes.
func (r *Release) Prepare(ctx context.Context, dryRun bool, out io.Writer) error {
	dir, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t, err := r.WriteTo(ctx, dir)
	if err != nil {
		return err
	}
	changed, err := differences(r.Root, dir)
	if err != nil {
		return err
	}
	if !dryRun {
		if err := worktree.CopyFiles(dir, r.Root, changed); err != nil {
			return err
		}
	}
	return t.report(out, changed, dryRun)
}

// build builds the images of operator and agent.
func (r *Release) build(ctx context.Context, t *Tree) error {
	operatorIndex, agentIndex, err := r.Build(ctx, t.Dir, r.Version)
	if err != nil {
		return err
	}
	operator, err := NewImage(r.Registry+"/"+bundle.Package, r.Version, operatorIndex)
	if err != nil {
		return err
	}
	agent, err := r.agent(ctx, t, agentIndex)
	t.Images = []Image{operator, agent}
	return err
}

// differences lists the files in changed that are not the same in old.
func differences(old, changed string) (names []string, err error) {
	err = fs.WalkDir(os.DirFS(changed), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		after, err := os.ReadFile(filepath.Join(changed, name))
		before, beforeErr := os.ReadFile(filepath.Join(old, name))
		if beforeErr != nil || !bytes.Equal(before, after) {
			names = append(names, name)
		}
		return err
	})
	return names, err
}
