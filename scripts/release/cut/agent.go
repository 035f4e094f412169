package cut

import (
	"context"
	"fmt"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const (
	agentName    = "memcached-agent"
	agentVersion = "operator/cmd/agent/VERSION"
)

// agent chooses the agent's image. The agent has its own version. As long as that is the version in the last release,
// the reference stays, even if another version of Go builds another image: a new reference would be a pending update of
// each cache.
func (r *Release) agent(ctx context.Context, t *Tree, index v1.ImageIndex) (Image, error) {
	program, version, err := oci.Agent(t.Dir)
	if err != nil {
		return Image{}, err
	}
	if t.oldAgent, err = agentImage.Read(t.Dir); err != nil {
		return Image{}, err
	}
	built, err := NewImage(r.Registry+"/"+agentName, version, index)
	if err != nil || t.oldAgent == built.String() || !strings.HasPrefix(t.oldAgent, built.ByTag()+"@") {
		return built, err
	}
	_, digest, _ := strings.Cut(t.oldAgent, "@")
	kept := Image{Name: agentName, Repository: built.Repository, Tag: version, Digest: digest}
	if t.LastTag == "" {
		return kept, nil
	}
	last, err := worktree.Git(ctx, r.Root, "show", t.LastTag+":"+agentVersion)
	if err != nil || strings.TrimSpace(last) != version {
		return built, nil //nolint:nilerror // The version, or the agent, is new in this release: it runs nowhere yet.
	}
	folders, err := program.Sources(ctx)
	if err != nil {
		return Image{}, err
	}
	changed, err := r.changedSources(ctx, t.LastTag, folders)
	if err == nil && len(changed) > 0 {
		err = fmt.Errorf("the agent has changed since %s, in %s, and its version has not: raise it in %s",
			t.LastTag, strings.Join(changed, ", "), agentVersion)
	}
	return kept, err
}

// changedSources lists the Go files in some folders that have changed since a tag, without tests.
func (r *Release) changedSources(ctx context.Context, tag string, folders []string) (changed []string, err error) {
	args := []string{"diff", "--name-only", "-z", tag, "--"}
	for _, folder := range folders {
		args = append(args, ":(glob)"+path.Join(folder, "*.go"), ":(exclude,glob)"+path.Join(folder, "*_test.go"))
	}
	out, err := worktree.Git(ctx, r.Root, args...)
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
}
