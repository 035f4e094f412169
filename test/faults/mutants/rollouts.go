package mutants

import "github.com/example-inc/memcached-operator/test/faults/variants"

const (
	noRollout = "no rollout that no one asked for"
	upgrades  = "another version takes the operator's place"
)

func rollouts() []Mutant {
	return []Mutant{
		{
			Name: "applies new defaults at once after an upgrade", Rule: noRollout, Needs: []string{upgrades},
			Edits: replace(inputsFile,
				"case updates(mc.Spec, *before, now, defaults),", "case true, updates(mc.Spec, *before, now, defaults),"),
		},
		{
			Name: "replaces Pods for another order of a set", Rule: noRollout, Needs: []string{"respell the spec"},
			Edits: replace(canonicalFile, "	slices.Sort(items)\n", ""),
		},
		{
			Name: "replaces Pods for another spelling of a quantity", Rule: noRollout, Needs: []string{"respell the spec"},
			Edits: replace(canonicalFile, "			spellQuantities(containers[i].Resources)\n", ""),
		},
		{
			Name: "prefers the older record after a crash", Rule: noRollout,
			Needs: []string{upgrades, "(kill|terminate) the operator at a write", "request the update|" + changes},
			Edits: replace(recordFile, "if (!ok || annotation != mc.Status.TemplateInputs) &&", "if !ok &&"),
		},
		{
			Name: "lets a rollout take a Pod away", Rule: "availability", Needs: []string{changes},
			Edits: replace("operator/internal/plan/rollout.go",
				"orDefault(wanted.MaxUnavailable, none)", "orDefault(wanted.MaxUnavailable, intstr.FromInt32(1))"),
		},
		{
			Name: "takes the number of Pods from the Deployment", Rule: "fields", Needs: []string{"scale"},
			Edits: []variants.Edit{
				{File: deploymentFile, Old: "WithReplicas(p.Replicas()).", New: "WithReplicas(sizeOf(p))."},
				{File: deploymentFile, Old: "// deployment runs the Pods.\n", New: `func sizeOf(p plan.Plan) int32 {
	if p.Deployed != nil && p.Deployed.Spec.Replicas != nil {
		return *p.Deployed.Spec.Replicas
	}
	return p.Size
}

// deployment runs the Pods.
`},
			},
		},
		{
			Name: "selects Pods by the labels of users", Rule: "the selector stays", Needs: []string{changes},
			Edits: replace(deploymentFile,
				"WithMatchLabels(names.Selector(p.Name))).", "WithMatchLabels(labelsWith(p, p.Metadata.Labels)))."),
		},
		{
			Name: "ignores spec.suspend", Rule: "suspended", Needs: []string{"suspend", changes + "|" + drifts},
			Edits: replace(controllerFile, "case in.Plan.Suspended:", "case false:"),
		},
		{
			Name: "leaves a rollout paused", Rule: "converges", Needs: []string{changes, "suspend"},
			Edits: replace(applyFile, "generation, err := s.resume(ctx, live)", "generation, err := int64(0), error(nil)"),
		},
	}
}
