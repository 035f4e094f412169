package cut

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const (
	agentName    = "memcached-agent"
	agentVersion = "operator/cmd/agent/VERSION"
)

// build builds the images of operator and agent.
func (r *Release) build(ctx context.Context, t *Tree) error {
	t.Go, _, _ = strings.Cut(runtime.Version(), "-X:") // The images are built without any experiment.
	for _, platform := range r.Platforms {
		t.Platforms = append(t.Platforms, platform.String())
	}
	program, version, err := oci.Agent(t.Dir)
	if err != nil {
		return err
	}
	var indexes []v1.ImageIndex
	err = progress.Stage(ctx, "Images of operator and agent", func(update func(string)) (err error) {
		indexes, err = r.Build(ctx, r.Platforms, update, oci.Operator(t.Dir, r.Version), program)
		return err
	})
	if err != nil {
		return err
	}
	operator, err := newImage(bundle.Package, r.Registry+"/"+bundle.Package, r.Version, indexes[0])
	if err != nil {
		return err
	}
	agent, err := newImage(agentName, r.Registry+"/"+agentName, version, indexes[1])
	if err != nil {
		return err
	}
	agent, err = r.chooseAgent(ctx, t, agent, program)
	t.Images = []Image{operator, agent}
	return err
}

// chooseAgent chooses the agent's image. The agent has its own version. As long as that is the version in the last
// release, the reference stays, even if another version of Go builds another image: a new reference would be a pending
// update of each cache.
func (r *Release) chooseAgent(ctx context.Context, t *Tree, built Image, program oci.Program) (_ Image, err error) {
	t.OldAgent, err = agentImage.Read(t.Dir)
	if err != nil || t.OldAgent == built.String() || !strings.HasPrefix(t.OldAgent, built.ByTag()+"@") {
		return built, err
	}
	kept := Image{Name: built.Name, Repository: built.Repository, Tag: built.Tag}
	_, kept.Digest, _ = strings.Cut(t.OldAgent, "@")
	if t.LastTag == "" {
		return kept, nil
	}
	last, err := worktree.Git(ctx, r.Root, "show", t.LastTag+":"+agentVersion)
	if err != nil || last != built.Tag {
		return built, nil //nolint:nilerror // The version, or the agent, is new in this release: it runs nowhere yet.
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
		err = fmt.Errorf("the agent has changed since %s, in %s, and its version has not: raise it in %s",
			t.LastTag, strings.Join(changed, ", "), agentVersion)
	}
	return kept, err
}

// addImage builds the image of bundle or catalog from what is in the tree.
func (t *Tree) addImage(suffix string, recipe bundle.Recipe) error {
	index, err := recipe.Build(filepath.Join(t.Dir, bundle.Dir))
	if err != nil {
		return err
	}
	name := bundle.Package + suffix
	i, err := newImage(name, t.Registry+"/"+name, "v"+t.Version, index)
	t.Images = append(t.Images, i)
	return err
}
