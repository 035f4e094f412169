package mutants

import "github.com/example-inc/memcached-operator/test/faults/variants"

func statuses() []Mutant {
	return []Mutant{
		{
			Name: "reports Ready before the Pods are", Rule: "ready",
			Needs: []string{"a Node is cordoned|Pods stay pending", "scale|replace the whole spec|an autoscaler scales"},
			Edits: replace(checksFile, "	podsAreReady,\n", ""),
		},
		{
			Name: "reports Ready during a rollout", Rule: "ready", Needs: []string{changes},
			Edits: replace(checksFile, "	rolloutIsComplete,\n", ""),
		},
		{
			Name: "takes the Deployment's status for current", Rule: "ready", Needs: []string{changes},
			Edits: replace(checksFile, "	deploymentIsObserved,\n", ""),
		},
		{
			Name: "reports a generation that does not exist yet", Rule: "observedGeneration",
			Edits: replace(statusFile, "status.ObservedGeneration = in.Memcached.Generation\n",
				"status.ObservedGeneration = in.Memcached.Generation + 1\n"),
		},
		{
			Name: "writes the status after its own write", Rule: "no requests at rest",
			Edits: []variants.Edit{
				{File: statusFile, Old: "Shorten(v.message, ", New: "Shorten(v.message+now.String(), "},
				{File: statusesFile, Old: " || !s.isOwn(now)", New: " || true"},
			},
		},
		{
			Name: "repeats a Secret in a message", Rule: "no secrets",
			Needs: []string{"the spec names a Secret", "a Secret is written"},
			Edits: replace(secretsFile, `	list, err := users.Parse(data)
	if err != nil {
		return record{State: State{Problem: err.Error()}}`,
				`	list, err := users.Parse(data)
	if err != nil {
		return record{State: State{Problem: fmt.Sprintf("%v: %s", err, data)}}`),
		},
		{
			Name: "panics if a Secret is missing", Rule: "no panic", Needs: []string{"the spec names a Secret"},
			Edits: replace(controllerFile, "	c.nodes, c.nodesAge = r.nodes.lookFor(ctx, c)\n",
				`	if c.snapshot.Auth != nil && c.snapshot.Auth.Missing {
		panic("the Secret is missing")
	}
	c.nodes, c.nodesAge = r.nodes.lookFor(ctx, c)
`),
		},
	}
}
