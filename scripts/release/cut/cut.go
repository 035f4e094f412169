// Package cut writes a release into a tree: its version, and the digests of its images, into every place that names
// them. It works in a copy of the tree and asks no registry: builds are reproducible, so the digests are known before
// anything is pushed.
package cut

import (
	"bytes"
	"context"
	_ "embed"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"text/template"

	v1 "github.com/google/go-containerregistry/pkg/v1"

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

// Record describes a release for programs: it is the content of release.json.
type Record struct {
	Version   string   `json:"version"`
	Registry  string   `json:"registry"`
	Commit    string   `json:"commit"`
	Time      string   `json:"time"` // of the commit, as in 2026-01-31T12:00:00Z
	Go        string   `json:"go"`   // version that the images are built with
	Platforms []string `json:"platforms"`
	Memcached string   `json:"memcached"` // image of a Memcached that names none; it may lack a digest
	Images    []Image  `json:"images"`    // of operator, agent, bundle and catalog, and the chart
}

// Tree is a tree with a release in it.
type Tree struct {
	Record

	Dir      string
	LastTag  string   // of the release before this one; empty: this is the first
	Subjects []string // of the commits since, the newest first
	OldAgent string   // the agent's image in the manifests before
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
	t := &Tree{Dir: dir, Record: Record{Version: r.Version, Registry: r.Registry}}
	if err := r.validate(ctx, t); err != nil {
		return nil, err
	}
	names, err := worktree.List(ctx, r.Root, "ls-files")
	if err != nil {
		return nil, err
	}
	if err := worktree.CopyFiles(r.Root, dir, names); err != nil {
		return nil, err
	}
	if err := r.build(ctx, t); err != nil {
		return nil, err
	}
	if err := r.stamp(t, names); err != nil {
		return nil, err
	}
	return t, t.stampOLM(ctx)
}

//go:embed report.txt
var report string

// Prepare writes the release into the tree at Root, unless it is a dry run. It reports what it changes, what to do next
// and what is new.
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
	text := template.Must(template.New("").Parse(report))
	return text.Execute(out, map[string]any{"Tree": t, "Changed": changed, "DryRun": dryRun})
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
