package actions

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example-inc/memcached-operator/internal/testing/reporting"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/schema"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// used is a change to how clients use a cache: its use from now on.
type used struct {
	Use reporting.Use `json:"use"`
}

// reported is a fault of the reports about the use of a cache. It lasts for a while.
type reported struct {
	lasting

	Late    metav1.Duration `json:"late,omitzero"`
	Content string          `json:"content,omitempty"`
}

const (
	day = 24 * 60 * 60 // seconds

	// untilReported is longer than it takes until the operator reads a Pod's report.
	untilReported = 2 * time.Second

	// latest is longer than the operator waits for a report.
	latest = 7 * time.Second
)

// uses are actions on caches whose memory use is observed, and faults of the reports. They need simulated Nodes,
// because the operator does not read the reports of real agents in these runs.
func uses() []Action {
	during := func(r *rand.Rand) any { return drawReported(r) }
	return simulated([]Action{
		{plan.Action{Name: Follow, Weight: 5, Draw: func(r *rand.Rand) any {
			return changed{Field: "spec.autoscaling.memory.mode", Spec: Following(r)}
		}}, edited(merge)},
		{plan.Action{Name: "the memory no longer follows the use", Weight: 2}, unfollow},
		{plan.Action{Name: "the use changes", Weight: 6, Draw: func(r *rand.Rand) any { return used{plan.DrawUse(r)} }},
			given(changeUse)},
		{plan.Action{Name: "reports of the use are late", Weight: 2, Draw: func(r *rand.Rand) any {
			with := drawReported(r)
			with.Late = upTo(r, latest)
			return with
		}}, onReports(world.ReportFault{})},
		{plan.Action{Name: "reports of the use are missing", Weight: 1, Draw: during},
			onReports(world.ReportFault{Missing: true})},
		{plan.Action{Name: "reports of the use are damaged", Weight: 2, Draw: func(r *rand.Rand) any {
			with := drawReported(r)
			with.Content = one(r, noReports...)
			return with
		}}, onReports(world.ReportFault{})},
		{plan.Action{Name: "agents repeat the report of a former Pod", Weight: 2, Draw: during},
			onReports(world.ReportFault{Former: true})},
	})
}

// Follow is the name of the change after which the memory of a cache follows its use.
const Follow = "the memory follows the use"

// NeedsUse reports whether an action has no effect on caches whose memory does not follow their use.
func NeedsUse(name string) bool {
	return name != Follow && slices.ContainsFunc(uses(), func(a Action) bool { return a.Name == name })
}

// noReports are answers that no agent gives, and two that an agent could give, but that do not fit its memcached.
var noReports = []string{
	`no JSON`, `{}`, `null`, `{"curve":`, `{"observedSeconds":-1}`, `{"hitRatio":7,"curve":[]}`,
	`{"observedSeconds":86400,"curve":[{"ageSeconds":3600,"memory":9},{"ageSeconds":60,"memory":1}]}`,
	`{"observedSeconds":86400,"reads":9,"evicting":true,"curve":[{"ageSeconds":86400,"memory":1125899906842624}]}`,
	`{"observedSeconds":86400,"reads":9,"evicting":false,"curve":[{"ageSeconds":86400,"memory":1}]}`,
}

// Following returns a spec in which the memory follows the use, with drawn bounds.
func Following(r *rand.Rand) map[string]any {
	return map[string]any{
		"memory": nil, "slots": map[string]any{"mode": one(r, "DNS", "DNS", "ClusterIP")},
		"rollout": map[string]any{"memoryChange": "Resize"},
		"autoscaling": map[string]any{"memory": map[string]any{
			"mode": "Act", "min": one(r, "16Mi", "16Mi", "64Mi"), "max": one(r, "128Mi", "256Mi", "512Mi", "1Gi"),
			"cooldownSeconds": 60, "evictionAgeSeconds": 3600,
		}},
	}
}

// acts reports whether the memory of a cache with this spec follows its use.
func acts(spec map[string]any) bool {
	mode, _, _ := unstructured.NestedString(spec, "autoscaling", "memory", "mode")
	return mode == "Act"
}

// unfollow makes the memory no longer follow the use, and keeps the current memory, in the way that the operator's
// documentation recommends.
func unfollow(ctx context.Context, w *world.World, step plan.Step) error {
	current := resource.MustParse("64Mi")
	_ = ask(ctx, func(ctx context.Context) error {
		mc, err := w.Memcached(ctx, step.Cache)
		if found := mc.Status.Autoscaling; found != nil && found.Memory != nil && found.Memory.Current != nil {
			current = *found.Memory.Current
		}
		return err
	})
	return editSpec(ctx, w, step.Cache, func(spec map[string]any) map[string]any {
		if !acts(spec) {
			return spec
		}
		return schema.Merge(spec, map[string]any{"memory": current.String(), "autoscaling": nil})
	})
}

func changeUse(ctx context.Context, w *world.World, step plan.Step, with used) error {
	w.SetUse(step.Cache, with.Use)
	world.HadEffect(ctx)
	return nil
}

func drawReported(r *rand.Rand) reported {
	with := reported{lasting: drawLasting(r)}
	with.For.Duration += untilReported
	return with
}

// onReports begins a fault of reports. The step has had an effect once the fault affects a report.
func onReports(fault world.ReportFault) do {
	return given(func(ctx context.Context, w *world.World, step plan.Step, with reported) error {
		f := fault
		f.Cache, f.Struck = step.Cache, func() { world.HadEffect(ctx) }
		f.Late, f.Content = with.Late.Duration, with.Content
		w.BeginReports(&f)
		w.During(with.For.Duration, func() { w.EndReports(&f) })
		return nil
	})
}
