package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

// resizable returns the spec of a cache with this memory. A change to the memory resizes running Pods.
func resizable(memory string) cachev1.MemcachedSpec {
	return cachev1.MemcachedSpec{
		Memory: new(resource.MustParse(memory)), Slots: &cachev1.Slots{},
		Rollout: &cachev1.Rollout{MemoryChange: cachev1.MemoryResize},
	}
}

// TestTheMemoryOfRunningPods changes a cache whose Pods started with 64Mi, and were resized to 128Mi since.
func TestTheMemoryOfRunningPods(t *testing.T) {
	const mib = memcached.Mebibyte
	infeasible := []slots.Pod{{Name: "b0", Hash: "b", ResizeRefused: corev1.PodReasonInfeasible}}
	tests := map[string]struct {
		change  func(*cachev1.MemcachedSpec)
		current func(*Current)
		want    int64 // that Pods start with
	}{
		"another memory replaces no Pod":             {change: func(s *cachev1.MemcachedSpec) { s.Memory = new(resource.MustParse("1Gi")) }, want: 64 * mib},
		"less than they started with, neither":       {change: func(s *cachev1.MemcachedSpec) { s.Memory = new(resource.MustParse("32Mi")) }, want: 64 * mib},
		"another change gives new Pods the memory":   {change: func(s *cachev1.MemcachedSpec) { s.Threads = new(int32(2)) }, want: 128 * mib},
		"without the mode, new Pods have the memory": {change: func(s *cachev1.MemcachedSpec) { s.Rollout = nil }, want: 128 * mib},
		"without slots, too":                         {change: func(s *cachev1.MemcachedSpec) { s.Slots = nil }, want: 128 * mib},
		"a Node that never has room": {
			current: func(c *Current) { c.Slots.Pods, c.Slots.Hash = infeasible, "b" }, want: 128 * mib,
		},
		"a Node that never has room for a Pod of another template": {
			current: func(c *Current) { c.Slots.Pods, c.Slots.Hash = infeasible, "c" }, want: 64 * mib,
		},
		"an item that fits since": {change: func(s *cachev1.MemcachedSpec) { s.MaxItemSize = new(resource.MustParse("60Mi")) }, want: 128 * mib},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			mc := memcachedWith(resizable("64Mi"))
			live := deployedBy(t, mc, defaults)
			mc.Spec.Memory = new(resource.MustParse("128Mi"))
			before, err := computed(mc, currently(live), defaults)
			if err != nil || before.Record.Memory != 64*mib || before.Memcached.ItemMemory != 64*mib {
				t.Fatalf("%v; the Pods start with %d", err, before.Record.Memory)
			}
			current := currently(live)
			if tc.change != nil {
				tc.change(&mc.Spec)
			}
			if tc.current != nil {
				tc.current(&current)
			}
			p, err := computed(mc, current, defaults)
			if diff := cmp.Diff(tc.want, p.Memcached.ItemMemory); err != nil || diff != "" {
				t.Errorf("%v; the memory at the start (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestPodsWithoutSlotsKeepTheirMemory until another change replaces them, or the spec allows a change to memory to
// replace them.
func TestPodsWithoutSlotsKeepTheirMemory(t *testing.T) {
	const mib = memcached.Mebibyte
	tests := map[string]struct {
		change  func(*cachev1.Memcached)
		want    int64 // that Pods start with
		pending []string
	}{
		"another memory is pending":         {func(*cachev1.Memcached) {}, 64 * mib, []string{"memory 64Mi -> 128Mi"}},
		"the memory that they have, is not": {func(mc *cachev1.Memcached) { mc.Spec.Memory = new(resource.MustParse("64Mi")) }, 64 * mib, nil},
		"no update is made for it alone":    {func(mc *cachev1.Memcached) { mc.Spec.UpdatePolicy = cachev1.UpdateAutomatic }, 64 * mib, []string{"memory 64Mi -> 128Mi"}},
		"slots do not hurry it":             {func(mc *cachev1.Memcached) { mc.Spec.Slots = &cachev1.Slots{} }, 64 * mib, []string{"slots off -> on", "memory 64Mi -> 128Mi"}},
		"a rollout brings it":               {func(mc *cachev1.Memcached) { mc.Spec.Threads = new(int32(2)) }, 128 * mib, nil},
		"so does a requested update": {
			func(mc *cachev1.Memcached) {
				mc.Annotations = map[string]string{cachev1.AnnotationUpdateRequested: "now"}
			}, 128 * mib, nil,
		},
		"so does the other mode": {func(mc *cachev1.Memcached) { mc.Spec.Rollout = nil }, 128 * mib, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			spec := resizable("64Mi")
			spec.Slots = nil
			spec.Autoscaling = &cachev1.Autoscaling{Memory: &cachev1.MemoryAutoscaling{Max: resource.MustParse("1Gi")}}
			mc := memcachedWith(spec)
			live := deployedBy(t, mc, defaults)
			mc.Spec.Memory = new(resource.MustParse("128Mi"))
			tc.change(mc)
			p, err := computed(mc, currently(live), defaults)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, p.Memcached.ItemMemory); diff != "" {
				t.Errorf("the memory at the start (-want +got):\n%s", diff)
			}
			if given := p.Autoscaling.Memory.Memory; given != tc.want {
				t.Errorf("%d bytes are observed", given)
			}
			if diff := cmp.Diff(tc.pending, p.Pending); diff != "" || p.OnlyMemory != (len(tc.pending) == 1) {
				t.Errorf("pending, only another memory: %t (-want +got):\n%s", p.OnlyMemory, diff)
			}
		})
	}
}

// TestTheModeAndTheMemoryMayChangeTogether, as in one commit: no Pod is replaced.
func TestTheModeAndTheMemoryMayChangeTogether(t *testing.T) {
	spec := resizable("64Mi")
	spec.Rollout = nil
	mc := memcachedWith(spec)
	live := deployedBy(t, mc, defaults)
	live.Spec.Template.Spec.Containers = []corev1.Container{{Name: "memcached", Args: []string{"--memory-limit=64"}}}
	mc.Spec = resizable("128Mi")
	p, err := computed(mc, currently(live), defaults)
	if err != nil || p.Memcached.ItemMemory != 64*memcached.Mebibyte {
		t.Errorf("%v; the Pods start with %d", err, p.Memcached.ItemMemory)
	}
}

// TestAnotherMemoryHasToFitTheLimit, although no Pod is replaced for it.
func TestAnotherMemoryHasToFitTheLimit(t *testing.T) {
	spec := resizable("64Mi")
	spec.Resources = &cachev1.MemcachedResources{}
	spec.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("310Mi")}
	mc := memcachedWith(spec)
	live := deployedBy(t, mc, defaults)
	mc.Spec.Memory = new(resource.MustParse("128Mi"))
	_, err := computed(mc, currently(live), defaults)
	const want = `spec.resources.limits.memory "310Mi" is less than a full Pod needs`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// TestAMemoryThatIsTakenBackReplacesNoPod: the Pods started with 64Mi, and have 128Mi. No Node ever has room for 1Ti,
// so the change to 1Ti would be a rollout, which waits for Secrets, or for a slot that moves. Then the change is taken
// back.
func TestAMemoryThatIsTakenBackReplacesNoPod(t *testing.T) {
	mc := memcachedWith(resizable("64Mi"))
	live := deployedBy(t, mc, defaults)
	mc.Spec.Memory = new(resource.MustParse("1Ti"))
	current := currently(live)
	current.SecretsUsable = false
	current.Slots.Pods = []slots.Pod{{Name: "b0", Hash: "b", ResizeRefused: corev1.PodReasonInfeasible}}
	current.Slots.Hash = "b"
	p, err := computed(mc, current, defaults)
	if err != nil || p.Template != KeepTemplate {
		t.Fatal(err, p.Template)
	}
	if p.Record.Memory != 64*memcached.Mebibyte {
		t.Errorf("the kept template starts memcached with 64Mi, but the record says %d", p.Record.Memory)
	}
	before := p.Record.Template
	mc.Status.TemplateInputs = p.Record.Encode()
	live.Annotations = map[string]string{names.AnnotationTemplateInputs: p.Record.Encode()}
	mc.Spec.Memory = new(resource.MustParse("128Mi"))
	current = currently(live)
	p, err = computed(mc, current, defaults)
	if err != nil || p.Record.Template != before {
		t.Errorf("%v: the Pods are replaced; they start with %d", err, p.Memcached.ItemMemory)
	}
}

// TestArgumentsThatForbidAResize: with the first argument, memcached refuses the command cache_memlimit; with the other
// arguments, memcached frees no pages.
func TestArgumentsThatForbidAResize(t *testing.T) {
	for _, arguments := range [][]string{{"-L"}, {"-vL"}, {"-o", "modern,no_slab_reassign"}, {"-o", "no_lru_crawler"}, {"-X"}} {
		spec := resizable("64Mi")
		spec.ExtraArgs, spec.Slots.Handoff = arguments, &cachev1.Handoff{Mode: cachev1.HandoffNever}
		if _, err := computed(memcachedWith(spec), nothing, defaults); err == nil {
			t.Errorf("%q is accepted", arguments)
		}
		spec.Rollout = nil
		if _, err := computed(memcachedWith(spec), nothing, defaults); err != nil {
			t.Errorf("%q without another memory for running Pods: %v", arguments, err)
		}
	}
}

// TestOnlyAProfileReservesTheWholeContainer: if the spec sets a memory request, Whole is false, even if the request is
// as large as the limit.
func TestOnlyAProfileReservesTheWholeContainer(t *testing.T) {
	request := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("500Mi")}
	for _, tc := range []struct {
		profile  cachev1.ResourcesProfile
		requests corev1.ResourceList
		want     bool
	}{
		{"", nil, false}, {"", request, false}, {cachev1.ResourcesGuaranteed, nil, true}, {cachev1.ResourcesGuaranteed, request, false},
	} {
		spec := resizable("64Mi")
		spec.Resources = &cachev1.MemcachedResources{Profile: tc.profile, Resources: cachev1.Resources{Requests: tc.requests}}
		mc := memcachedWith(spec)
		draft, err := Resolve(mc, currently(deployedBy(t, mc, defaults)), defaults)
		if err != nil {
			t.Fatal(err)
		}
		if got := draft.memory(draft.before.Template).Whole; got != tc.want {
			t.Errorf("profile %q, requests %v: %t", tc.profile, tc.requests, got)
		}
	}
}

// TestNewPodsThatFitNoNodeStartWithLess: 1Ti in the spec was a mistake, and Pods with 1Ti are not scheduled.
func TestNewPodsThatFitNoNodeStartWithLess(t *testing.T) {
	mc := memcachedWith(resizable("1Ti"))
	live := deployedBy(t, mc, defaults)
	current := currently(live)
	current.Slots.Pods, current.Slots.Hash = []slots.Pod{{Name: "b0", Hash: "b", Unschedulable: true}}, "b"
	for memory, want := range map[string]int64{"1Gi": 1 << 30, "2Ti": 1 << 40} {
		mc.Spec.Memory = new(resource.MustParse(memory))
		if p, err := computed(mc, current, defaults); err != nil || p.Memcached.ItemMemory != want {
			t.Errorf("%s: %v; the Pods start with %d", memory, err, p.Memcached.ItemMemory)
		}
	}
}

// TestALostRecordReplacesNoPod: the Pods started with 64Mi, and have 128Mi as the spec says. Then the status and the
// annotation of the Deployment are lost.
func TestALostRecordReplacesNoPod(t *testing.T) {
	mc := memcachedWith(resizable("64Mi"))
	live := deployedBy(t, mc, defaults)
	mc.Spec.Memory = new(resource.MustParse("128Mi"))
	mc.Status.TemplateInputs, live.Annotations = "", nil
	live.Spec.Template.Annotations = map[string]string{names.AnnotationTemplateRevision: "1"}
	live.Spec.Template.Spec.Containers = []corev1.Container{{Name: "memcached", Args: []string{"--memory-limit=64"}}}
	live.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: names.FieldOwner, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":{
			"f:metadata":{"f:annotations":{"f:` + names.AnnotationTemplateRevision + `":{}}},
			"f:spec":{"f:readinessGates":{},"f:securityContext":{"f:runAsUser":{}}}}}}`),
	}}
	draft, err := Resolve(mc, currently(live), defaults)
	if err != nil || draft.before == nil || !draft.before.Slots {
		t.Fatal(err, draft.before)
	}
	if got := draft.Pod.Memcached.ItemMemory / memcached.Mebibyte; got != 64 {
		t.Errorf("the Pods are replaced: memcached starts with 64, and the template has %d", got)
	}
}
