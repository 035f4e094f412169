package actions

import (
	"context"
	"math/rand/v2"

	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/schema"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// Respell is the name of a change that writes the same spec in another form, and so replaces no Pods.
const Respell = "respell the spec"

// author draws changes to Memcacheds from the schema.
type author struct{ *schema.Schema }

// changes are the changes that users make to a Memcached. They are derived from the schema of the CRD, so a new field
// needs no change here.
func changes(s *schema.Schema) []Action {
	a := author{s}
	return []Action{
		{plan.Action{Name: "change a field", Weight: 8, Draw: a.drawField}, edited(merge)},
		{plan.Action{Name: "change several fields", Weight: 4, Draw: a.drawSeveral}, edited(merge)},
		{plan.Action{Name: "unset a field", Weight: 3, Draw: drawNumber}, edited(a.unset)},
		{plan.Action{Name: "replace the whole spec", Weight: 3, Draw: a.drawSpec}, edited(replace)},
		{plan.Action{Name: "undo the last change", Weight: 3}, undo},
		{plan.Action{Name: Respell, Weight: 5, Draw: drawNumber}, edited(a.respell)},
		{plan.Action{Name: "try invalid values", Weight: 6, Draw: a.drawInvalid}, given(tryInvalid)},
		{plan.Action{Name: "scale", Weight: 8, Draw: drawSize}, edited(scale)},
		{plan.Action{Name: "turn slots on or off", Weight: 3, Draw: drawSlots}, edited(merge)},
		{plan.Action{Name: "replace all Pods", Weight: 4, Draw: drawThreads}, edited(merge)},
		{plan.Action{Name: "resize running Pods", Weight: 4, Draw: drawResize}, edited(merge)},
		{plan.Action{Name: "suspend", Weight: 2}, set("suspend", true)},
		{plan.Action{Name: "resume", Weight: 3}, set("suspend", false)},
		{plan.Action{Name: "set updatePolicy to Automatic", Weight: 2}, set("updatePolicy", "Automatic")},
		{plan.Action{Name: "set updatePolicy to OnSpecChange", Weight: 2}, set("updatePolicy", "OnSpecChange")},
		{plan.Action{Name: "request the update", Weight: 3, Draw: drawNumber}, given(requestUpdate)},
		{plan.Action{Name: "delete the Memcached", Weight: 1, Draw: drawDeletion}, given(deleteMemcached)},
		{plan.Action{Name: "create the Memcached again", Weight: 2}, createAgain},
		{plan.Action{Name: "delete the Memcached and create it again", Weight: 3, Draw: drawDeletion}, given(recreateCache)},
	}
}

// changed has a spec that is merged into the spec of a Memcached, or replaces that spec.
type changed struct {
	Field string         `json:"field,omitempty"` // the drawn field; Spec also has the fields that it requires
	Spec  map[string]any `json:"spec"`
}

func (a author) drawField(r *rand.Rand) any {
	f := a.Choose(r)
	return changed{f.Path, a.Valid(r, f)}
}

func (a author) drawSeveral(r *rand.Rand) any { return changed{Spec: a.Several(r)} }
func (a author) drawSpec(r *rand.Rand) any    { return changed{Spec: a.Spec(r)} }

// drawSlots sometimes also changes a field whose change replaces the Pods, because a change to slots alone takes effect
// only when the Pods are replaced.
func drawSlots(r *rand.Rand) any {
	spec := map[string]any{"slots": one[any](r, map[string]any{"mode": "DNS"}, map[string]any{"mode": "ClusterIP"}, nil)}
	if r.IntN(2) == 0 {
		spec["threads"] = 1 + r.IntN(8)
	}
	return changed{Field: "spec.slots", Spec: spec}
}

func drawResize(r *rand.Rand) any {
	return changed{Field: "spec.memory", Spec: resized(one(r, "32Mi", "64Mi", "100Mi", "128Mi", "512Mi"))}
}

// resized returns a spec that changes the memory of running Pods. It has slots, because only Pods with slots are
// resized.
func resized(memory string) map[string]any {
	return map[string]any{
		"autoscaling": nil, "memory": memory, "slots": map[string]any{"mode": "DNS"},
		"rollout": map[string]any{"memoryChange": "Resize"},
	}
}

func drawThreads(r *rand.Rand) any {
	return changed{Field: "spec.threads", Spec: map[string]any{"threads": 1 + r.IntN(8)}}
}

// edited returns a function that replaces the spec of a Memcached by the result of change.
func edited[A any](change func(spec map[string]any, with A) map[string]any) do {
	return given(func(ctx context.Context, w *world.World, step plan.Step, with A) error {
		return editSpec(ctx, w, step.Cache, func(spec map[string]any) map[string]any { return change(spec, with) })
	})
}

func merge(spec map[string]any, with changed) map[string]any { return schema.Merge(spec, with.Spec) }
func replace(_ map[string]any, with changed) map[string]any  { return with.Spec }

// set returns a function that sets this field. Users change it often.
func set(field string, value any) do {
	return edited(func(spec map[string]any, _ struct{}) map[string]any {
		return schema.Merge(spec, map[string]any{field: value})
	})
}

// numbered has a number by which a step chooses among things that are known only when the step is carried out.
type numbered struct {
	Number int `json:"number"`
}

func drawNumber(r *rand.Rand) any { return numbered{r.IntN(1_000_000)} }

func (a author) unset(spec map[string]any, which numbered) map[string]any {
	return a.Unset(spec, which.Number)
}

func undo(ctx context.Context, w *world.World, step plan.Step) error {
	before := w.Recall(step.Cache)
	if before == nil {
		return nil
	}
	return editSpec(ctx, w, step.Cache, func(map[string]any) map[string]any { return before })
}

func (a author) respell(spec map[string]any, how numbered) map[string]any {
	r := rand.New(rand.NewPCG(uint64(how.Number), 3)) //nolint:gosec // the same step must respell a spec the same way
	return a.Respell(r, spec)
}

// invalid has changes with a value that the API server refuses. Each change also has the fields that the value
// requires.
type invalid struct {
	Tries []try `json:"tries"`
}

type try struct {
	Field  string         `json:"field"`
	Breach string         `json:"breach"` // what is wrong
	Spec   map[string]any `json:"spec"`
}

// mostTries is how many changes a step tries at most. A refused change costs little.
const mostTries = 12

func (a author) drawInvalid(r *rand.Rand) any {
	bounded, drawn := a.Bounded(), invalid{}
	for range 1 + r.IntN(mostTries) {
		breach := one(r, one(r, bounded...).Breaches()...)
		if r.IntN(8) == 0 {
			breach = schema.OtherType(a.Choose(r))
		}
		drawn.Tries = append(drawn.Tries, try{breach.Field.Path, breach.What, a.Invalid(r, breach)})
	}
	return drawn
}

// tryInvalid tries one change after the other. If the API server accepts a value, the value stays: another change may
// have made it valid.
func tryInvalid(ctx context.Context, w *world.World, step plan.Step, with invalid) error {
	for _, try := range with.Tries {
		refused, err := trySpec(ctx, w, step.Cache, func(spec map[string]any) map[string]any {
			return schema.Merge(spec, try.Spec)
		})
		if err != nil {
			return err
		}
		if refused {
			world.HadEffect(ctx)
		}
	}
	return nil
}
