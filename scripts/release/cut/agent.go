package cut

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const (
	agentName     = "memcached-agent"
	agentVersion  = "operator/cmd/agent/VERSION"
	agentVariable = "RELATED_IMAGE_AGENT"
)

// pushedAgent is the agent's image that the release names. The agent has a version of its own. As long as that is the
// one which the manifests name by digest, their reference stays: another would wait at each cache.
func (r *Release) pushedAgent(ctx context.Context, f *facts) (string, error) {
	_, version, err := oci.Agent(r.Root)
	if err != nil {
		return "", err
	}
	byTag := r.Registry + "/" + agentName + ":" + version
	push := "make agent-image-index REGISTRY=" + r.Registry
	if strings.HasPrefix(f.oldAgent, byTag+"@") {
		return f.oldAgent, r.validateKeptAgent(ctx, f, push)
	}
	return r.pushedAs(ctx, byTag, push, func() (string, error) { return r.BuildAgent(ctx, r.Root) })
}

// validateKeptAgent: the registry still has it, and the sources are those that it was made of.
func (r *Release) validateKeptAgent(ctx context.Context, f *facts, push string) error {
	if _, err := r.Digest(ctx, withoutTag(f.oldAgent)); err != nil {
		return fmt.Errorf("the agent is that of the last release: %w", err)
	}
	changed, err := r.agentChanges(ctx, f.lastTag)
	if err == nil && len(changed) > 0 {
		err = fmt.Errorf("the agent has changed since %s, in %s, and its version has not: raise it in %s, and push it by %s",
			f.lastTag, strings.Join(changed, ", "), agentVersion, push)
	}
	return err
}

// agentChanges lists the files of the agent that were changed since a tag. Those that a test alone reads don't count,
// nor does another version of Go, by which the agent would be another image.
func (r *Release) agentChanges(ctx context.Context, tag string) (changed []string, err error) {
	if tag == "" {
		return nil, nil
	}
	folders, err := r.AgentSources(ctx, r.Root)
	if err != nil {
		return nil, err
	}
	args := []string{"diff", "--name-only", "-z", tag, "--"}
	for _, folder := range folders {
		args = append(args, ":(glob)"+folder+"/*.go") // not those of folders in it
	}
	out, err := worktree.Git(ctx, r.Root, args...)
	for name := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if name != "" && !strings.HasSuffix(name, "_test.go") {
			changed = append(changed, name)
		}
	}
	return changed, err
}

// managerAgent is the agent's image in the manifests.
func managerAgent(root string) (string, error) {
	deployment, err := yaml.ReadFile(filepath.Join(root, managerFile))
	if err != nil {
		return "", fmt.Errorf("%s: %w", managerFile, err)
	}
	value, err := deployment.Pipe(yaml.Lookup("spec", "template", "spec", "containers", "[name=manager]", "env",
		"[name="+agentVariable+"]", "value"))
	if err != nil || value == nil {
		return "", fmt.Errorf("%s has no %s of the container manager: %w", managerFile, agentVariable, err)
	}
	return value.YNode().Value, nil
}
