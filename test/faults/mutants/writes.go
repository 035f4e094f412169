package mutants

func writes() []Mutant {
	return []Mutant{
		{
			Name: "does not revert drift", Rule: "the same spec gives the same objects", Needs: []string{drifts},
			Edits: replace(applyFile,
				"		return s.correct(ctx, live, changed, object)\n", "		return Outcome{Result: Unchanged}, nil\n"),
		},
		{
			Name: "takes a write that admission reverts for done", FixedByRestart: true, Rule: "desired state",
			Needs: []string{"an admission policy changes writes", changes + "|" + drifts},
			Edits: replace(answerFile, "if undone || isStillVersion(", "if undone && false && isStillVersion("),
		},
		{
			Name: "does not notice that an object was deleted", FixedByRestart: true, Rule: "converges",
			Needs: []string{"a third party deletes an object"},
			Edits: replace(watchesFile,
				"			syncer.NoteMissing(e.Object)\n			return true\n", "			return e.Object == nil\n"),
		},
		{
			Name: "keeps the PodDisruptionBudget of a single Pod", Rule: "converges", Needs: []string{"scale"},
			Edits: replace(removeFile,
				"if !wanted[key] && ", "if key.Kind != \"PodDisruptionBudget\" && !wanted[key] && "),
		},
		{
			Name: "does not repeat a write that failed", FixedByRestart: true, Rule: "converges",
			Needs: []string{"the only write of a change fails"},
			Edits: replace(controllerFile,
				"	if err = c.failure(); err != nil {\n		return ctrl.Result{}, err\n	}\n", ""),
		},
		{
			Name: "reverts another client without a pause", Rule: "no hot loop",
			Needs: []string{"a third party keeps editing an owned field"},
			Edits: replace(paceFile, "	if w.count < int(l) {\n", "	if w.count >= 0 {\n"),
		},
		{
			Name: "writes for a Memcached that is being deleted", Rule: "nothing is left",
			Needs: []string{"a finalizer holds a Memcached|delete the Memcached.*"},
			Edits: replace(controllerFile, "	if !mc.DeletionTimestamp.IsZero() {\n", "	if false {\n"),
		},
	}
}
