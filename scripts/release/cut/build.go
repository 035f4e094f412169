package cut

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/image"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const (
	agentName    = "memcached-agent"
	agentVersion = "operator/cmd/agent/VERSION"
)

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

// agent chooses the agent's image. The agent has its own version. As long as that is the version in the last release,
// the reference stays, even if another version of Go builds another image: a new reference would be a pending update of
// each cache.
func (r *Release) agent(ctx context.Context, t *Tree, index v1.ImageIndex) (Image, error) {
	program, version, err := oci.Agent(t.Dir)
	if err != nil {
		return Image{}, err
	}
	if t.OldAgent, err = agentImage.Read(t.Dir); err != nil {
		return Image{}, err
	}
	built, err := NewImage(r.Registry+"/"+agentName, version, index)
	if err != nil || t.OldAgent == built.String() || !strings.HasPrefix(t.OldAgent, built.ByTag()+"@") {
		return built, err
	}
	_, digest, _ := strings.Cut(t.OldAgent, "@")
	kept := Image{Name: agentName, Repository: built.Repository, Tag: version, Digest: digest}
	if t.LastTag == "" {
		return kept, nil
	}
	last, err := worktree.Git(ctx, r.Root, "show", t.LastTag+":"+agentVersion)
	if err != nil || last != version {
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
func (t *Tree) addImage(suffix string, kind image.Kind) error {
	index, err := kind.Build(filepath.Join(t.Dir, bundle.Dir))
	if err != nil {
		return err
	}
	i, err := NewImage(t.Registry+"/"+bundle.Package+suffix, "v"+t.Version, index)
	t.Images = append(t.Images, i)
	return err
}
