package mutants

import "github.com/example-inc/memcached-operator/test/faults/variants"

func statuses() []Mutant {
	return []Mutant{
		replace("says Ready before Pods are", "Ready", checksFile, "	podsAreReady,\n", ""),
		replace("says Ready during a rollout", "Ready", checksFile, "	rolloutIsComplete,\n", ""),
		replace("takes the Deployment's status for current", "Ready", checksFile, "	deploymentIsObserved,\n", ""),
		replace("reports a generation that does not exist yet", "observedGeneration", statusFile,
			"status.ObservedGeneration = in.Memcached.Generation\n",
			"status.ObservedGeneration = in.Memcached.Generation + 1\n"),
		{
			Name: "writes the status after its own write", Rule: "at rest",
			Edits: []variants.Edit{
				{File: statusFile, Old: "Shorten(v.message, ", New: "Shorten(v.message+now.String(), "},
				{File: statusesFile, Old: " || !s.isOwn(now)", New: " || true"},
			},
		},
		replace("repeats a Secret in a message", "secrets", secretsFile,
			`	list, err := users.Parse(data)
	if err != nil {
		return record{Secret: Secret{Problem: err.Error()}}`,
			`	list, err := users.Parse(data)
	if err != nil {
		return record{Secret: Secret{Problem: fmt.Sprintf("%v: %s", err, data)}}`),
	}
}
