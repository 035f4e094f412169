package mutants

import "github.com/example-inc/memcached-operator/test/faults/variants"

func rollouts() []Mutant {
	return []Mutant{
		replace("applies new defaults at once after an upgrade", "rollouts", inputsFile,
			"case updates(mc.Spec, *before, now, defaults),", "case true, updates(mc.Spec, *before, now, defaults),"),
		replace("replaces Pods for another order of a set", "rollouts", canonicalFile,
			"	slices.Sort(items)\n", ""),
		replace("prefers the older record after a crash", "rollouts", recordFile,
			"if (!ok || annotation != mc.Status.TemplateInputs) &&", "if !ok &&"),
		replace("lets a rollout take a Pod away", "unavailable Pods", planFile,
			"orDefault(wanted.MaxUnavailable, intstr.FromInt32(0))", "orDefault(wanted.MaxUnavailable, intstr.FromInt32(1))"),
		{
			Name: "takes the number of Pods from the Deployment", Rule: "desired state",
			Edits: []variants.Edit{
				{File: deploymentFile, Old: "WithReplicas(p.Size).", New: "WithReplicas(sizeOf(p))."},
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
		replace("selects Pods by the labels of users", "desired state", deploymentFile,
			"WithMatchLabels(names.Selector(p.Name))).", "WithMatchLabels(labelsWith(p, p.Metadata.Labels)))."),
		replace("ignores spec.suspend", "suspend", controllerFile,
			"case in.Err == nil && !in.Plan.Suspended:", "case in.Err == nil:"),
		replace("leaves a rollout paused", "desired state", applyFile,
			"generation, err := s.resume(ctx, live)", "generation, err := int64(0), error(nil)"),
	}
}
