package actions

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// addition is a change that the operator does not revert, because it does not own the field.
type addition struct {
	Kind  string `json:"kind"`
	Patch string `json:"patch"` // a strategic merge patch
	Undo  string `json:"undo,omitempty"`
}

func additions() []Action {
	return simulated([]Action{
		{plan.Action{Name: "a third party adds a field", Weight: 3, Draw: func(r *rand.Rand) any {
			return drawAddition(r)
		}}, given(addField)},
		{plan.Action{Name: "a third party stops a rollout", Weight: 1, Draw: func(r *rand.Rand) any {
			return one(r, blockers...)
		}}, given(addField)},
	})
}

// blockers are additions that keep new Pods from becoming ready, until they are undone.
var blockers = []addition{
	{Kind: "Deployment", Patch: `{"spec":{"paused":true}}`, Undo: `{"spec":{"paused":null}}`},
	{
		Kind:  "Deployment",
		Patch: `{"spec":{"template":{"spec":{"nodeSelector":{"example.com/pool":"none"}}}}}`,
		Undo:  `{"spec":{"template":{"spec":{"nodeSelector":{"example.com/pool":null}}}}}`,
	},
	{
		Kind:  "Deployment",
		Patch: `{"spec":{"template":{"spec":{"schedulingGates":[{"name":"example.com/gate"}]}}}}`,
		Undo:  `{"spec":{"template":{"spec":{"schedulingGates":[{"name":"example.com/gate","$patch":"delete"}]}}}}`,
	},
}

// harmless are additions that are never undone, by the kind of the object. The additions for the kind "" fit every
// kind. NUMBER is replaced by a drawn number.
var harmless = map[string][]string{
	"": {
		`{"metadata":{"annotations":{"example.com/third-party":"NUMBER"}}}`,
		`{"metadata":{"labels":{"example.com/third-party":"NUMBER"}}}`,
	},
	"Deployment": {
		`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"NUMBER"}}}}}`,
		`{"spec":{"template":{"metadata":{"labels":{"example.com/third-party":"NUMBER"}}}}}`,
		`{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","image":"registry.example.com/sidecar:NUMBER"}]}}}}`,
		`{"spec":{"template":{"spec":{"containers":[{"name":"memcached","env":[{"name":"THIRD","value":"NUMBER"}]}]}}}}`,
		`{"spec":{"template":{"spec":{"volumes":[{"name":"third-party-NUMBER","emptyDir":{}}]}}}}`,
		`{"spec":{"template":{"spec":{"hostAliases":[{"ip":"192.0.2.1","hostnames":["host-NUMBER"]}]}}}}`,
		`{"spec":{"template":{"spec":{"topologySpreadConstraints":[{"maxSkew":NUMBER,` +
			`"topologyKey":"kubernetes.io/hostname","whenUnsatisfiable":"ScheduleAnyway",` +
			`"labelSelector":{"matchLabels":{"app":"memcached"}}}]}}}}`,
		`{"spec":{"revisionHistoryLimit":NUMBER}}`,
	},
	"Service": {
		`{"spec":{"ports":[{"name":"third-party","port":NUMBER,"protocol":"TCP"}]}}`,
		`{"spec":{"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":NUMBER}}}}`,
	},
}

func drawAddition(r *rand.Rand) addition {
	kind := drawKind(r)
	patch := one(r, slices.Concat(harmless[""], harmless[kind])...)
	patch = strings.ReplaceAll(patch, "NUMBER", strconv.Itoa(1+r.IntN(10)))
	return addition{Kind: kind, Patch: patch}
}

func addField(ctx context.Context, w *world.World, step plan.Step, with addition) error {
	patch := func(ctx context.Context, patch string) error {
		return onTarget(ctx, w, with.Kind, step.Cache, func(ctx context.Context, object *unstructured.Unstructured) error {
			raw := client.RawPatch(strategicPatch, []byte(patch))
			return w.Client.Patch(ctx, object, raw, thirdParty)
		})
	}
	if with.Undo != "" {
		w.Later(func(ctx context.Context) error { return patch(ctx, with.Undo) })
	}
	return patch(ctx, with.Patch)
}
