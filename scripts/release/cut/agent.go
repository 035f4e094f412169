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

// chooseAgent finds the agent's image that the release names. The agent has a version of its own. As long as that is
// the version of the last release, its reference stays, also where another Go builds another image: a new reference
// would wait at each cache.
func (r *Release) chooseAgent(ctx context.Context, dir string, f *facts, built string) error {
	_, version, err := oci.Agent(dir)
	if err != nil {
		return err
	}
	byTag := r.Registry + "/" + agentName + ":" + version
	f.agent = byTag + "@" + built
	if f.agent == f.oldAgent || !strings.HasPrefix(f.oldAgent, byTag+"@") {
		return nil
	}
	if f.lastTag != "" {
		last, err := worktree.Git(ctx, r.Root, "show", f.lastTag+":"+agentVersion)
		if err != nil || strings.TrimSpace(last) != version {
			return nil //nolint:nilerror // The version, or the agent, is new in this release: nobody runs it yet.
		}
	}
	f.agent, f.agentKept = f.oldAgent, true
	changed, err := r.agentChanges(ctx, dir, f.lastTag)
	if err == nil && len(changed) > 0 {
		err = fmt.Errorf("the agent has changed since %s, in %s, and its version has not: raise it in %s",
			f.lastTag, strings.Join(changed, ", "), agentVersion)
	}
	return err
}

// agentChanges lists the files of the agent that were changed since a tag. Those that a test alone reads don't count,
// nor does another version of Go, by which the agent would be another image.
func (r *Release) agentChanges(ctx context.Context, dir, tag string) (changed []string, err error) {
	if tag == "" {
		return nil, nil
	}
	folders, err := r.AgentSources(ctx, dir)
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
