package mutants

func writes() []Mutant {
	return []Mutant{
		replace("does not revert drift", "desired state", applyFile,
			"	return s.correct(ctx, live, changed, object)\n", "	return Outcome{Result: Unchanged}, nil\n"),
		replace("does not see that an object was deleted", "desired state", watchesFile,
			"		CreateFunc: func(e event.CreateEvent) bool { return !syncer.TakeCreation(e.Object) },\n",
			"		CreateFunc: func(e event.CreateEvent) bool { return !syncer.TakeCreation(e.Object) },\n"+
				"		DeleteFunc: func(event.DeleteEvent) bool { return false },\n"),
		replace("keeps the PodDisruptionBudget of a single Pod", "desired state", removeFile,
			"		if live == nil || ", "		if live == nil || kind.Kind == \"PodDisruptionBudget\" || "),
		replace("does not repeat a write that failed", "desired state", controllerFile,
			"	if err != nil {\n		return ctrl.Result{}, err\n	}\n	return ctrl.Result{RequeueAfter: sooner(wait,",
			"	_ = err\n	return ctrl.Result{RequeueAfter: sooner(wait,"),
		replace("reverts another client without a pause", "conflicts", paceFile,
			"	if w.count < int(l) {\n", "	if w.count >= 0 {\n"),
		replace("writes for a Memcached that is being deleted", "deletion", controllerFile,
			"	if !mc.DeletionTimestamp.IsZero() {\n", "	if false {\n"),
	}
}
