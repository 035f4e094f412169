package mutants

const (
	noRollout = "no rollout that no one requested"
	upgrades  = "another version takes the operator's place"
)

func rollouts() []Mutant {
	return []Mutant{
		{
			Name: "applies new defaults immediately after an upgrade", Rule: noRollout, Needs: []string{upgrades},
			Edits: replace(draftFile,
				"case before.Requested != now.Requested,", "case true, before.Requested != now.Requested,"),
		},
		{
			Name: "replaces Pods for another order of a set", Rule: noRollout, Needs: []string{changes, "respell the spec"},
			Edits: replace(canonicalFile, "	slices.Sort(items)\n", ""),
		},
		{
			Name: "replaces Pods for another spelling of a quantity", Rule: noRollout, Needs: []string{"respell the spec"},
			Edits: replace(canonicalFile, "= spelledQuantities(containers[i].Resources)", "= containers[i].Resources"),
		},
		{
			Name: "prefers the older record after a crash", Rule: noRollout,
			Needs: []string{upgrades, upgrades + " at a write", "request the update|replace all Pods|undo.*"},
			Edits: replace(recordFile, "if (!ok || annotation != mc.Status.TemplateInputs) &&", "if !ok &&"),
		},
		{
			Name: "lets a rollout take a Pod away", Rule: "availability", Needs: []string{changes},
			Edits: replace("operator/internal/plan/rollout.go",
				"orDefault(wanted.MaxUnavailable, none)", "orDefault(wanted.MaxUnavailable, intstr.FromInt32(1))"),
		},
		{
			Name: "takes the number of Pods from the Deployment", Rule: "fields", Needs: []string{"scale"},
			Edits: replace("operator/internal/render/render.go", "	if p.Template != plan.NoTemplate {\n",
				`	if p.Template != plan.NoTemplate {
		if deployed != nil && deployed.Spec.Replicas != nil {
			p.Size = *deployed.Spec.Replicas
		}
`),
		},
		{
			Name: "selects Pods by the labels of users", Rule: "the selector stays", Needs: []string{changes},
			Edits: replace(deploymentFile,
				"WithMatchLabels(names.Selector(p.Name))).", "WithMatchLabels(labelsWith(p.Name, p.CommonMetadata.Labels)))."),
		},
		{
			Name: "ignores spec.suspend", Rule: "suspended", Needs: []string{"suspend", changes + "|" + drifts},
			Edits: replace(controllerFile, "case c.memcached.Spec.Suspend:", "case false:"),
		},
		{
			Name: "leaves a rollout paused", Rule: "converges", Needs: []string{changes, "suspend"},
			Edits: replace(applyFile, "generation, err := s.resume(ctx, live)", "generation, err := int64(0), error(nil)"),
		},
	}
}
