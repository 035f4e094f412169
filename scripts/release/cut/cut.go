// Package cut makes releases. Prepare writes a release into a tree: it writes the version, and the digests of the
// images, into every place that names them. Make writes the manifests, images, chart, lists and checksums of a release
// into a folder; the same commit makes the same bytes. Push pushes the images and the chart in such a folder. Only Push
// sends requests to a registry: because builds are reproducible, the digests are known before a push.
package cut

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// Release is the input from which a release is made.
type Release struct {
	Root           string // the repository's folder; its commit is released
	Version        string
	Registry       string        // registry of all images: host and path
	MemcachedImage string        // default image of caches; empty: as in the manifests
	Platforms      []v1.Platform // platforms of the images
	Computers      []v1.Platform // platforms of the plugin of kubectl

	// Out is the folder that the release is written to. The folder may be in the tree. It does not count as a change to
	// the tree.
	Out string

	// Build builds the images of operator, agent and snapshot: it is oci.BuildAll or, in tests, a faster function.
	Build func(context.Context, []v1.Platform, func(string), ...oci.Program) ([]v1.ImageIndex, error)
}

// Record describes a release for other programs. It is the content of release.json.
type Record struct {
	Version   string   `json:"version"`
	Registry  string   `json:"registry"`
	Commit    string   `json:"commit"`
	Time      string   `json:"time"` // of the commit, as in 2026-01-31T12:00:00Z
	Go        string   `json:"go"`   // version of Go that builds the images
	Platforms []string `json:"platforms"`
	Memcached string   `json:"memcached"` // default image of caches; its digest is optional
	Images    []Image  `json:"images"`    // of operator, agent, snapshot, bundle and catalog, and the chart
}

// Tree is a copy of the repository into which a release is written.
type Tree struct {
	Record

	Dir      string
	LastTag  string   // tag of the release before this one; empty: this is the first
	Subjects []string // subjects of the commits since LastTag, the newest first
	Old      []string // images of operator, agent and snapshot before this release

	out       string        // the folder for the files of the release
	computers []v1.Platform // the platforms of the plugin of kubectl
}

// Image is one of the images that a release consists of, or its chart.
type Image struct {
	Name       string `json:"name"`       // such as memcached-operator
	Repository string `json:"repository"` // registry and path
	Tag        string `json:"tag"`
	Digest     string `json:"digest"`

	// Layout is the image's folder in the release. It is empty for an image that was pushed with an earlier release.
	Layout string `json:"layout,omitempty"`

	// Content is the content of the folder Layout.
	Content oci.Artifact `json:"-"`
}

// ByTag returns the image's reference with only the tag.
func (i Image) ByTag() string { return i.Repository + ":" + i.Tag }

// ByDigest returns the image's reference with only the digest.
func (i Image) ByDigest() string { return i.Repository + "@" + i.Digest }

// String returns the image's reference with the tag and the digest.
func (i Image) String() string { return i.ByTag() + "@" + i.Digest }

// inCopy writes the release into a copy of the commit, calls use with the copy, and then removes the copy.
func (r *Release) inCopy(ctx context.Context, use func(*Tree) error) error {
	dir, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t, err := r.WriteTo(ctx, dir)
	if err != nil {
		return err
	}
	return use(t)
}

const (
	agentName    = "memcached-agent"
	snapshotName = "memcached-snapshot"
	agentVersion = "operator/cmd/agent/VERSION"
)

// build builds the images of operator, agent and the program that saves caches.
func (r *Release) build(ctx context.Context, t *Tree) error {
	t.Go, _, _ = strings.Cut(runtime.Version(), "-X:") // The images are built without this Go's experiments.
	for _, platform := range r.Platforms {
		t.Platforms = append(t.Platforms, platform.String())
	}
	for _, place := range programImages {
		old, err := place.Read(t.Dir)
		if err != nil {
			return err
		}
		t.Old = append(t.Old, old)
	}
	program, version, err := oci.Agent(t.Dir)
	if err != nil {
		return err
	}
	var indexes []v1.ImageIndex
	err = progress.Stage(ctx, "Images of operator, agent and snapshot", func(update func(string)) (err error) {
		indexes, err = r.Build(ctx, r.Platforms, update, oci.Operator(t.Dir, r.Version), program,
			oci.Snapshot(t.Dir, r.Version))
		return err
	})
	if err != nil {
		return err
	}
	err = errors.Join(
		t.addImage(bundle.Package, bundle.Package, r.Version, indexes[0]),
		t.addImage(agentName, agentName, version, indexes[1]),
		t.addImage(snapshotName, snapshotName, r.Version, indexes[2]))
	if err != nil {
		return err
	}
	t.Images[1], err = r.chooseAgent(ctx, t, t.Images[1], program)
	return err
}

// addImage adds an image that was built. The path is the image's path in the registry.
func (t *Tree) addImage(name, path, tag string, content oci.Artifact) error {
	digest, err := content.Digest()
	t.Images = append(t.Images, Image{
		Name: name, Repository: t.Registry + "/" + path, Tag: tag, Digest: digest.String(), Layout: "images/" + name,
		Content: content,
	})
	return err
}

// chooseAgent chooses the agent's image. The agent has its own version. As long as this version is the same as in the
// last release, the image reference stays the same, even if another version of Go builds another image, because a new
// reference would be a pending update of each cache.
func (r *Release) chooseAgent(ctx context.Context, t *Tree, built Image, program oci.Program) (Image, error) {
	old := t.Old[1]
	if old == built.String() || !strings.HasPrefix(old, built.ByTag()+"@") {
		return built, nil
	}
	kept := Image{Name: built.Name, Repository: built.Repository, Tag: built.Tag}
	_, kept.Digest, _ = strings.Cut(old, "@")
	if t.LastTag == "" {
		return kept, nil
	}
	last, err := worktree.Git(ctx, r.Root, "show", t.LastTag+":"+agentVersion)
	if err != nil || last != built.Tag {
		return built, nil //nolint:nilerror // The agent's version is new, so it runs nowhere yet.
	}
	folders, err := program.Sources(ctx)
	if err != nil {
		return Image{}, err
	}
	args := []string{"diff", "--name-only", t.LastTag, "--"}
	for _, folder := range folders {
		args = append(args, ":(glob)"+path.Join(folder, "*.go"), ":(exclude,glob)"+path.Join(folder, "*_test.go"))
	}
	changed, err := worktree.List(ctx, r.Root, args...)
	if err == nil && len(changed) > 0 {
		err = fmt.Errorf("the agent has changed since %s, in %s, but its version has not: raise the version in %s",
			t.LastTag, strings.Join(changed, ", "), agentVersion)
	}
	return kept, err
}
