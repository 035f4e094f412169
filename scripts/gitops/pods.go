package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

// pods says whether the Pods of a cache are kept, replaced or deleted, and why.
type pods struct {
	cache string
	Pods  string `json:"pods"`
	Why   string `json:"why"`
}

// memcached is a cache before and after the change, with the operator's defaults before and after.
type memcached struct {
	Before map[string]any `json:"before"`
	After  map[string]any `json:"after"`
	From   defaults       `json:"from"`
	To     defaults       `json:"to"`
}

type defaults struct {
	Image         string   `json:"image"`
	Agent         string   `json:"agent"`
	Architectures []string `json:"architectures"`
	Platform      string   `json:"platform,omitempty"`
}

// askOperator fills in whether the Pods of each cache are kept, replaced or deleted. The operator's own packages decide
// this. They run as another program, because they need other versions of the Kubernetes libraries than Argo CD's
// packages.
func (d *difference) askOperator(ctx context.Context, checkout string, before, now plan) error {
	then, is := before.caches(), now.caches()
	names := union(then, is)
	changes := make([]memcached, len(names))
	for i, name := range names {
		changes[i] = memcached{then[name], is[name], before.defaults(), now.defaults()}
	}
	in, err := json.Marshal(changes)
	if err != nil || len(names) == 0 {
		return err
	}
	command := exec.CommandContext(ctx, "go", "run", "./operator/tools/replaces")
	var stderr bytes.Buffer
	command.Dir, command.Stdin, command.Stderr = checkout, bytes.NewReader(in), &stderr
	out, err := command.Output()
	if err == nil {
		err = json.Unmarshal(out, &d.pods)
	}
	if err != nil {
		return fmt.Errorf("%s in %s: %w: %s", strings.Join(command.Args, " "), checkout, err, &stderr)
	}
	for i := range d.pods {
		d.pods[i].cache = names[i]
	}
	d.pods = slices.DeleteFunc(d.pods, func(p pods) bool { return p.Pods == "kept" && p.Why == "" })
	return nil
}

// caches returns the plan's Memcacheds by namespace/name.
func (p plan) caches() map[string]map[string]any {
	found := map[string]map[string]any{}
	for _, part := range p.parts() {
		for _, o := range part.Objects {
			if o.GetKind() == "Memcached" {
				found[o.Path()] = o.Object
			}
		}
	}
	return found
}

// defaults returns the defaults for Pods of the operator that the plan installs.
func (p plan) defaults() (d defaults) {
	if p.Tree == nil {
		return d
	}
	d = defaults{Image: p.Settings["memcachedImage"], Agent: p.Settings["agentImage"], Platform: "Kubernetes"}
	for _, part := range p.parts() {
		for _, o := range part.Objects { // The Deployment or the Subscription may set other images.
			for _, image := range tree.Variables(o.Object, tree.MemcachedVariable) {
				d.Image = image
			}
			for _, image := range tree.Variables(o.Object, tree.AgentVariable) {
				d.Agent = image
			}
		}
	}
	if p.Method == "openshift" {
		d.Platform = "OpenShift"
	}
	if d.Architectures = []string{p.Settings["architecture"]}; d.Architectures[0] == tree.Multiarch {
		d.Architectures = nil
	}
	return d
}

// summary returns a sentence that says how many caches lose their keys.
func (d difference) summary() string {
	lost := map[string]int{}
	for _, p := range d.pods {
		lost[p.Pods]++
	}
	if lost["replaced"]+lost["deleted"] == 0 {
		return "No Pod of a cache is replaced."
	}
	return fmt.Sprintf("**Caches whose Pods are replaced: %d, deleted: %d.** "+
		"Their keys are lost, unless the cache has slots.",
		lost["replaced"], lost["deleted"])
}
