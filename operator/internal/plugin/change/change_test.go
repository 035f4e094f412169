package change_test

import (
	"bytes"
	"flag"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/desired"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/cachetest"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/change"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/screen"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

var update = flag.Bool("update", false, "write the golden files again")

// running returns the input for a cache that the operator has already created from this spec.
func running(t *testing.T, spec func(*cachev1.MemcachedSpec)) change.Input {
	t.Helper()
	mc := cachetest.Memcached("shop", cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	spec(&mc.Spec)
	outcome, template, err := desired.State(mc, plan.Current{SecretsUsable: true}, plan.Defaults{
		Revisions: render.Revisions(), Image: "memcached:1.6.45", AgentImage: "agent:0.2.0", Platform: plan.Kubernetes,
		Architectures: []string{"amd64"}, Now: cachetest.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	planned, ok := plan.Of(outcome)
	if !ok {
		t.Fatalf("the outcome is %+v", outcome)
	}
	planned.Record.Template = template.Hash
	mc.Status.TemplateInputs = planned.Record.Encode()
	deployment := cachetest.Deployment("shop", 3, 3)
	deployment.Annotations = map[string]string{names.AnnotationTemplateInputs: mc.Status.TemplateInputs}
	deployment.Spec.Replicas = &planned.Size
	return change.Input{
		Before: mc, After: mc.DeepCopy(), Now: cachetest.Now,
		Current: plan.Current{Deployment: deployment, SecretsUsable: true},
	}
}

func nothing(*cachev1.MemcachedSpec) {}

func slots(s *cachev1.MemcachedSpec) { s.Slots = &cachev1.Slots{Mode: cachev1.SlotsDNS} }

func memory(s *cachev1.MemcachedSpec) { s.Memory = new(resource.MustParse("256Mi")) }

func resized(s *cachev1.MemcachedSpec) {
	slots(s)
	s.Rollout = &cachev1.Rollout{MemoryChange: cachev1.MemoryResize}
}

func size(to int32) func(*cachev1.MemcachedSpec) {
	return func(s *cachev1.MemcachedSpec) { s.Size = &to }
}

func TestWhatAChangeDoes(t *testing.T) {
	type effect struct {
		Pods change.Pods
		Keys change.Keys
	}
	for name, tc := range map[string]struct {
		before, after func(*cachev1.MemcachedSpec)
		want          effect
	}{
		"nothing":                         {nothing, nothing, effect{change.PodsStay, change.KeysStay}},
		"memory without slots":            {nothing, memory, effect{change.PodsAreReplaced, change.AllKeysAreLost}},
		"memory with slots":               {slots, memory, effect{change.PodsAreReplaced, change.KeysAreHandedOver}},
		"memory of Pods that are resized": {resized, memory, effect{change.PodsStay, change.KeysStay}},
		"less memory of Pods that are resized": {
			func(s *cachev1.MemcachedSpec) { resized(s); memory(s) },
			func(s *cachev1.MemcachedSpec) { s.Memory = new(resource.MustParse("64Mi")) },
			effect{change.PodsStay, change.SomeKeysAreLost},
		},
		"memory without slots, which waits": {
			func(s *cachev1.MemcachedSpec) { s.Rollout = &cachev1.Rollout{MemoryChange: cachev1.MemoryResize} }, memory,
			effect{change.PodsStay, change.KeysStay},
		},
		"more Pods without slots":           {nothing, size(4), effect{change.PodsStay, change.SomeKeysAreLost}},
		"no Pods":                           {nothing, size(0), effect{change.PodsAreDeleted, change.AllKeysAreLost}},
		"slots for the first time":          {nothing, slots, effect{change.PodsStay, change.KeysStay}},
		"fewer slots without a client hash": {slots, size(2), effect{change.PodsStay, change.SomeKeysAreLost}},
		"fewer slots with a client hash": {
			func(s *cachev1.MemcachedSpec) { slots(s); s.Slots.ClientHash = cachev1.HashKetama }, size(2),
			effect{change.PodsStay, change.KeysAreMoved},
		},
		"another client hash": {
			func(s *cachev1.MemcachedSpec) { slots(s); s.Slots.ClientHash = cachev1.HashKetama },
			func(s *cachev1.MemcachedSpec) { s.Slots.ClientHash = cachev1.HashRendezvous },
			effect{change.PodsStay, change.KeysStay},
		},
		"a client hash for the first time": {
			slots, func(s *cachev1.MemcachedSpec) { s.Slots.ClientHash = cachev1.HashKetama },
			effect{change.PodsStay, change.KeysStay},
		},
		"no client hash any more": {
			func(s *cachev1.MemcachedSpec) { slots(s); s.Slots.ClientHash = cachev1.HashKetama },
			func(s *cachev1.MemcachedSpec) { s.Slots.ClientHash = "" }, effect{change.PodsStay, change.KeysStay},
		},
		"the operator chooses the number of Pods from now on and keeps them": {
			func(s *cachev1.MemcachedSpec) {
				slots(s)
				s.Slots.ClientHash = cachev1.HashKetama
				s.Size = new(int32(3))
			},
			func(s *cachev1.MemcachedSpec) {
				s.Size, s.Autoscaling = nil, &cachev1.Autoscaling{Size: &cachev1.SizeAutoscaling{
					Mode: cachev1.AutoscalingAct, Min: 1, Max: 9,
				}}
			}, effect{change.PodsStay, change.KeysStay},
		},
		"memory with slots that never hand over": {
			func(s *cachev1.MemcachedSpec) {
				slots(s)
				s.Slots.Handoff = &cachev1.Handoff{Mode: cachev1.HandoffNever}
			}, memory,
			effect{change.PodsAreReplaced, change.AllKeysAreLost},
		},
		"memory and slots for the first time": {nothing, func(s *cachev1.MemcachedSpec) { slots(s); memory(s) },
			effect{change.PodsAreReplaced, change.AllKeysAreLost}},
		"memory of a suspended cache": {nothing, func(s *cachev1.MemcachedSpec) { s.Suspend = true; memory(s) },
			effect{change.PodsStay, change.KeysStay}},
		"no NetworkPolicy": {nothing, func(s *cachev1.MemcachedSpec) {
			s.NetworkPolicy = &cachev1.NetworkPolicy{Mode: cachev1.NetworkPolicyDisabled}
		}, effect{change.PodsStay, change.KeysStay}},
		"an invalid image": {nothing, func(s *cachev1.MemcachedSpec) { s.Image = "x y" }, effect{change.PodsStay, change.KeysStay}},
	} {
		t.Run(name, func(t *testing.T) {
			in := running(t, tc.before)
			tc.after(&in.After.Spec)
			got, err := change.Of(in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, effect{got.Pods, got.Keys}); diff != "" {
				t.Error(diff)
			}
			var out bytes.Buffer
			screen.Screen{Writer: &out}.Change(got)
			page.Golden(t, "testdata/"+strings.ReplaceAll(name, " ", "-")+".txt", out.String(), *update)
		})
	}
}

func TestANewCacheHasAllObjectsCreated(t *testing.T) {
	in := running(t, nothing)
	in.Before, in.Current.Deployment, in.After.Status = nil, nil, cachev1.MemcachedStatus{}
	got, err := change.Of(in)
	if err != nil {
		t.Fatal(err)
	}
	want := []change.Object{
		{Action: change.Created, Kind: "Service", Name: "shop"}, {Action: change.Created, Kind: "NetworkPolicy", Name: "shop"},
		{Action: change.Created, Kind: "Deployment", Name: "shop"}, {Action: change.Created, Kind: "PodDisruptionBudget", Name: "shop"},
	}
	if diff := cmp.Diff(want, got.Objects); diff != "" || got.Pods != change.PodsAreCreated {
		t.Error(got.Pods, diff)
	}
}

func TestAPendingUpdateIsAppliedWithAChangeThatReplacesThePods(t *testing.T) {
	in := running(t, nothing)
	pending := cachetest.Condition(cachev1.ConditionUpdatePending, cachev1.ReasonDefaultsDiffer, "image a -> b.")
	in.After.Status.Conditions = append(in.After.Status.Conditions, pending)
	in.After.Annotations = map[string]string{cachev1.AnnotationUpdateRequested: "now"}
	memory(&in.After.Spec)
	got, err := change.Of(in)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"The pending update is applied, too: image a -> b.",
		"The annotation cache.example.com/update-requested \"now\" applies the operator's defaults, which may replace the Pods",
	}
	if diff := cmp.Diff(want, got.Notes); diff != "" {
		t.Error(diff)
	}
}

func TestOfAnInvalidSpecItIsNotKnownWhatChanges(t *testing.T) {
	in := running(t, nothing)
	in.Before.Spec.Image = "x y"
	memory(&in.After.Spec)
	got, err := change.Of(in)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"The current spec is invalid, so it is not known which objects would change, and how"}
	if diff := cmp.Diff(want, got.Notes); diff != "" || len(got.Objects) > 0 || got.Pods != change.PodsAreReplaced {
		t.Errorf("%s objects %+v, Pods %s", diff, got.Objects, got.Pods)
	}
}

func TestWhatIsNotKnownIsAnError(t *testing.T) {
	newer := running(t, nothing)
	record, _ := plan.Recorded(newer.After, newer.Current.Deployment)
	record.Revision = 1000
	newer.After.Status.TemplateInputs = record.Encode()
	newer.Current.Deployment.Annotations = nil
	unowned := running(t, nothing)
	unowned.After.Status.TemplateInputs = ""
	unowned.Current.Deployment = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	for want, in := range map[string]change.Input{
		"the Pods have the template revision 1000": newer, "have no record of what the Pods are made from": unowned,
	} {
		if _, err := change.Of(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
