package actions

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/kubelet"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/schema"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// copyFault is a fault of the copies of keys that begin while it lasts. With Forever, it lasts until all faults end.
// Threads is the new value of spec.threads. This change starts a rollout, and so the copies.
type copyFault struct {
	lasting

	Forever bool `json:"forever,omitempty"`
	Threads int  `json:"threads"`
}

// untilCopied is longer than it takes until a new Pod copies keys.
const untilCopied = 3 * time.Second

// annotating is a change to annotations that the operator wrote on Pods.
type annotating struct {
	onPods

	Annotations map[string]*string `json:"annotations"` // nil removes an annotation
}

// recording is a change to the record of which Pod has which slot.
type recording struct {
	Change string `json:"change"`
	Entry  int    `json:"entry"`
}

// slotFaults are actions on caches with slots. They do not change other caches.
func slotFaults() []Action {
	during := func(r *rand.Rand) any {
		with := copyFault{drawLasting(r), r.IntN(3) == 0, 1 + r.IntN(8)}
		with.For.Duration += untilCopied
		return with
	}
	return slices.Concat(simulated([]Action{
		{plan.Action{Name: "copies of keys fail", Weight: 3, Draw: during}, onCopies(kubelet.Fails)},
		{plan.Action{Name: "agents that copy keys are killed", Weight: 3, Draw: during}, onCopies(kubelet.Restarts)},
		{plan.Action{Name: "copies of keys hang", Weight: 3, Draw: during}, onCopies(kubelet.Hangs)},
		{plan.Action{Name: "resizes of Pods are refused", Weight: 3, Draw: drawFullNodes}, given(refuseResizes)},
	}), []Action{
		{plan.Action{Name: "a third party edits the operator's annotations on Pods",
			Weight: 3, Draw: drawAnnotating}, given(annotatePods)},
		{plan.Action{Name: "a third party edits which Pods have the slots", Weight: 3, Draw: func(r *rand.Rand) any {
			return recording{one(r, "remove", "empty", "swap", "repeat", "unready", "unknown"), r.IntN(8)}
		}}, given(editRecord)},
	})
}

// NeedsSlots reports whether an action has no effect on caches without slots.
func NeedsSlots(name string) bool {
	return slices.ContainsFunc(slotFaults(), func(a Action) bool { return a.Name == name })
}

func onCopies(kind string) do {
	return given(func(ctx context.Context, w *world.World, step plan.Step, with copyFault) error {
		end := beginFault(ctx, w, step.Cache, kind)
		if with.Forever {
			w.Later(func(context.Context) error { end(); return nil })
		} else {
			w.During(with.For.Duration, end)
		}
		return editSpec(world.WithoutEffect(ctx), w, step.Cache, func(spec map[string]any) map[string]any {
			return schema.Merge(spec, map[string]any{"threads": with.Threads})
		})
	})
}

// beginFault begins a fault of a cache's Pods in the simulated kubelet. The step has had an effect once the fault
// affects a Pod.
func beginFault(ctx context.Context, w *world.World, cache, kind string) (end func()) {
	fault := &kubelet.Fault{
		Namespace: w.Namespace, Cache: cache, Kind: kind, Struck: func() { world.HadEffect(ctx) },
	}
	w.Kubelet.Begin(fault)
	return func() { w.Kubelet.End(fault) }
}

const (
	handoff      = "cache.example.com/handoff"
	deletionCost = "controller.kubernetes.io/pod-deletion-cost"
)

// instructions are values that another client may write into the annotation by which the operator instructs the agent.
var instructions = []string{
	`no JSON`, `{}`, `{"role":"serve"}`, `{"role":"serve","slot":"a-0"}`, `{"role":"leave","slot":"a-1","end":1}`,
	`{"role":"cold","slot":"a-0","since":"2020-01-01T00:00:00Z"}`, `{"role":"moved","slot":"a-0","from":"10.0.0.9"}`,
	`{"role":"receive","slot":"a-0","from":"10.0.0.9","since":"2020-01-01T00:00:00Z"}`, `{"role":"other","slot":"a-0"}`,
}

func drawAnnotating(r *rand.Rand) any {
	with := annotating{drawPods(r), map[string]*string{}}
	switch r.IntN(4) {
	case 0:
		with.Annotations[handoff] = nil
	case 1:
		with.Annotations[deletionCost] = one(r, new("-1000"), new("1000"), new("many"), nil)
	default:
		with.Annotations[handoff] = new(one(r, instructions...))
	}
	return with
}

func annotatePods(ctx context.Context, w *world.World, step plan.Step, with annotating) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": with.Annotations}})
	if err != nil {
		return err
	}
	return eachPod(func(ctx context.Context, w *world.World, pod *corev1.Pod) error {
		if !kubelet.HasSlots(pod) {
			return nil
		}
		return intrude(ctx, func(ctx context.Context) error {
			return w.Client.Patch(ctx, pod, client.RawPatch(mergePatch, patch), thirdParty)
		})
	})(ctx, w, step)
}

func editRecord(ctx context.Context, w *world.World, step plan.Step, with recording) error {
	change := func(ctx context.Context, slice *unstructured.Unstructured) error {
		entries, _, _ := unstructured.NestedSlice(slice.Object, "endpoints")
		if len(entries) == 0 {
			return nil
		}
		slice.Object["endpoints"] = changeRecord(entries, with)
		return w.Client.Update(ctx, slice, thirdParty)
	}
	return onTarget(ctx, w, "EndpointSlice", step.Cache, change)
}

// changeRecord returns the entries of the record with the change.
func changeRecord(entries []any, with recording) []any {
	i := with.Entry % len(entries)
	next := (i + 1) % len(entries)
	entry := func(i int) map[string]any { return entries[i].(map[string]any) }
	switch with.Change {
	case "remove":
		return slices.Delete(entries, i, i+1)
	case "empty":
		return []any{}
	case "swap":
		entry(i)["hostname"], entry(next)["hostname"] = entry(next)["hostname"], entry(i)["hostname"]
	case "repeat":
		entry(next)["targetRef"], entry(next)["addresses"] = entry(i)["targetRef"], entry(i)["addresses"]
	case "unready":
		entry(i)["conditions"] = map[string]any{"ready": false}
	case "unknown":
		entry(i)["targetRef"] = map[string]any{"kind": "Pod", "name": "none", "uid": fmt.Sprint("none-", i)}
	}
	return entries
}

// nameOf returns the name of the object of a kind that belongs to a cache.
func nameOf(kind, cache string) string {
	switch kind {
	case "EndpointSlice":
		return cache + "-slots-ipv4"
	case slotService:
		return cache + "-slots"
	}
	return cache
}

// slotService is the kind by which a plan names the Service of all slots.
const slotService = "slots' Service"
