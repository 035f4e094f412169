package world

// remembered is how many earlier specs of a Memcached can be restored.
const remembered = 8

// Remember keeps the spec that a Memcached had before a change. Only steps may use it.
func (w *World) Remember(cache string, spec map[string]any) {
	if w.specs == nil {
		w.specs = map[string][]map[string]any{}
	}
	specs := append(w.specs[cache], spec)
	w.specs[cache] = specs[max(0, len(specs)-remembered):]
}

// Recall returns the spec that was kept last, and forgets it; nil if there is none.
func (w *World) Recall(cache string) map[string]any {
	specs := w.specs[cache]
	if len(specs) == 0 {
		return nil
	}
	last := len(specs) - 1
	w.specs[cache] = specs[:last]
	return specs[last]
}
