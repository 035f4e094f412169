package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/autoscale"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// autoscaled is the spec of a cache whose memory the operator chooses, between 32Mi and 1Gi.
func autoscaled() cachev1.MemcachedSpec {
	spec := resizable("64Mi")
	spec.Memory = nil
	spec.Autoscaling = &cachev1.Autoscaling{Memory: &cachev1.MemoryAutoscaling{
		Mode: cachev1.AutoscalingAct, Min: new(resource.MustParse("32Mi")), Max: resource.MustParse("1Gi"),
		EvictionAgeSeconds: 3600, CooldownSeconds: 600,
	}}
	return spec
}

func chosen(memory string) cachev1.MemcachedStatus {
	return cachev1.MemcachedStatus{Autoscaling: &cachev1.AutoscalingStatus{
		Memory: &cachev1.MemoryAutoscalingStatus{Current: new(resource.MustParse(memory))},
	}}
}

func TestTheMemoryThatTheOperatorChose(t *testing.T) {
	const mib = memcached.Mebibyte
	given := func(memory ...int64) Current {
		current := Current{}
		for _, bytes := range memory {
			current.Slots.Pods = append(current.Slots.Pods, slots.Pod{Instruction: instruction.Instruction{Memory: bytes}})
		}
		return current
	}
	tests := map[string]struct {
		spec    cachev1.MemcachedSpec
		status  cachev1.MemcachedStatus
		current Current
		want    string
	}{
		"is that of any cache at first":            {spec: autoscaled(), want: "64Mi"},
		"is what the status says":                  {spec: autoscaled(), status: chosen("96Mi"), current: given(128 * mib), want: "96Mi"},
		"is what Pods were given, without that":    {spec: autoscaled(), current: given(96*mib, 128*mib, 0), want: "128Mi"},
		"is at most the maximum":                   {spec: autoscaled(), status: chosen("2Gi"), want: "1Gi"},
		"is at least the minimum":                  {spec: autoscaled(), status: chosen("16Mi"), want: "32Mi"},
		"is not what another client wrote there":   {spec: autoscaled(), current: given(1 << 60), want: "64Mi"},
		"is that of the spec, if it only observes": {spec: resizable("48Mi"), status: chosen("96Mi"), want: "48Mi"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			mc := memcachedWith(tc.spec)
			mc.Status = tc.status
			if got := withChosenMemory(mc, tc.current).Spec.Memory; got.String() != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
			if choosesMemory(tc.spec) && mc.Spec.Memory != nil {
				t.Error("the Memcached of the cache was changed")
			}
		})
	}
}

// TestWhenTheOperatorBeginsToChooseNoPodIsReplaced: the Pods keep the memory that they have.
func TestWhenTheOperatorBeginsToChooseNoPodIsReplaced(t *testing.T) {
	mc := memcachedWith(cachev1.MemcachedSpec{Memory: new(resource.MustParse("256Mi")), Slots: &cachev1.Slots{}})
	live := deployedBy(t, mc, defaults)
	live.Spec.Template.Spec.Containers = []corev1.Container{{Name: "memcached", Args: []string{"--memory-limit=256"}}}
	before := planOf(t, mc, currently(live), defaults)
	mc.Spec = autoscaled()
	after := planOf(t, mc, currently(live), defaults)
	if diff := cmp.Diff(before.Memcached, after.Memcached); diff != "" {
		t.Errorf("settings (-before +after):\n%s", diff)
	}
	if after.Autoscaling.Memory.Memory != 256*memcached.Mebibyte {
		t.Errorf("the memory is %d", after.Autoscaling.Memory.Memory)
	}
}

func TestAStepIsTakenOnlyByACacheThatIsReady(t *testing.T) {
	now := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	reports := autoscale.Reports{Since: now.Add(-time.Hour), Seen: []autoscale.Seen{
		{At: now, Report: usage.Report{Observed: 60, Evicting: true, EvictedAge: 1}},
	}}
	ready := metav1.Condition{Type: cachev1.ConditionReady, Status: metav1.ConditionTrue, Reason: cachev1.ReasonAllPodsReady}
	tests := map[string]struct {
		change func(*cachev1.Memcached)
		grows  bool
	}{
		"it is ready":     {func(*cachev1.Memcached) {}, true},
		"it is suspended": {func(mc *cachev1.Memcached) { mc.Spec.Suspend = true }, false},
		"the spec is new": {func(mc *cachev1.Memcached) { mc.Generation++ }, false},
		"it has no Pods": {
			func(mc *cachev1.Memcached) { mc.Status.Conditions[0].Reason = cachev1.ReasonScaledToZero }, false,
		},
		"a Pod hands over": {
			func(mc *cachev1.Memcached) { mc.Status.Conditions[0].Reason = cachev1.ReasonHandingOver }, false,
		},
		"it only observes": {
			func(mc *cachev1.Memcached) { mc.Spec.Autoscaling.Memory.Mode = cachev1.AutoscalingObserve }, false,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			mc := memcachedWith(autoscaled())
			mc.Status = chosen("64Mi")
			mc.Status.Conditions = []metav1.Condition{ready}
			tc.change(mc)
			with := defaults
			with.Now = now
			p := planOf(t, mc, Current{SecretsUsable: true, Usage: Usage{Reports: reports}}, with)
			if grows := p.Autoscaling.Memory.Memory > 64*memcached.Mebibyte; grows != tc.grows {
				t.Errorf("the memory becomes %d", p.Autoscaling.Memory.Memory)
			}
			if p.Memcached.ItemMemory != 64*memcached.Mebibyte {
				t.Errorf("the Pods get %d before the status says so", p.Memcached.ItemMemory)
			}
		})
	}
}

// TestNoStepIsTakenWhilePodsHaveNoSlots: Pods without slots can't be resized. They are replaced to get slots, but not
// before another change replaces them.
func TestNoStepIsTakenWhilePodsHaveNoSlots(t *testing.T) {
	with := defaults
	with.Now = time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		deployed *cachev1.Slots
		grows    bool
	}{"they have": {&cachev1.Slots{}, true}, "they have none": {nil, false}} {
		t.Run(name, func(t *testing.T) {
			mc := memcachedWith(cachev1.MemcachedSpec{Slots: tc.deployed})
			live := deployedBy(t, mc, with)
			mc.Spec, mc.Status.Autoscaling = autoscaled(), chosen("64Mi").Autoscaling
			mc.Status.Conditions = []metav1.Condition{{
				Type: cachev1.ConditionReady, Status: metav1.ConditionTrue, Reason: cachev1.ReasonAllPodsReady,
			}}
			current := currently(live)
			current.Usage.Reports = autoscale.Reports{Since: with.Now.Add(-time.Hour), Seen: []autoscale.Seen{
				{At: with.Now, Report: usage.Report{Observed: 60, Evicting: true, EvictedAge: 1}},
			}}
			memory := planOf(t, mc, current, with).Autoscaling.Memory
			if grows := memory.Memory > 64*memcached.Mebibyte; grows != tc.grows {
				t.Errorf("the memory becomes %d", memory.Memory)
			}
		})
	}
}

// TestAStepIsTakenBackOnlyForAPodThatWasRefusedIt: a Pod that is added, or that replaces another Pod, starts with the
// memory of the template, and a Pod that waits for a Node was not refused a resize.
func TestAStepIsTakenBackOnlyForAPodThatWasRefusedIt(t *testing.T) {
	const mib = memcached.Mebibyte
	with := defaults
	with.Now = time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	step := with.Now.Add(-3 * time.Minute)
	large, small := slots.Container{Request: 1 << 30, Limit: 1 << 30}, slots.Container{Request: 100 * mib, Limit: 244 * mib}
	for name, tc := range map[string]struct {
		change func(pod *slots.Pod, mc *cachev1.Memcached, current *Current)
		isKept bool
	}{
		"its kubelet refuses": {func(*slots.Pod, *cachev1.Memcached, *Current) {}, false},
		"its kubelet does not say what containers have": {func(pod *slots.Pod, _ *cachev1.Memcached, _ *Current) {
			pod.ResizeRefused, pod.Actual = "", slots.Container{}
		}, false},
		"the API server refuses": {func(pod *slots.Pod, _ *cachev1.Memcached, _ *Current) {
			pod.ResizeRefused, pod.Container = "", small
		}, false},
		"the API server refuses a larger limit, and the request is that of the spec": {
			func(pod *slots.Pod, mc *cachev1.Memcached, _ *Current) {
				mc.Spec.Resources = &cachev1.MemcachedResources{Resources: cachev1.Resources{
					Requests: corev1.ResourceList{"memory": resource.MustParse("100Mi")},
				}}
				pod.ResizeRefused, pod.Container = "", small
			}, false,
		},
		"its kubelet has not answered": {func(pod *slots.Pod, _ *cachev1.Memcached, _ *Current) { pod.ResizeRefused = "" }, true},
		"the operator has just been started": {func(pod *slots.Pod, _ *cachev1.Memcached, current *Current) {
			pod.ResizeRefused, pod.Container, current.Usage.Reports.Since = "", small, with.Now
		}, true},
		"the cache was suspended until now": {func(pod *slots.Pod, mc *cachev1.Memcached, _ *Current) {
			pod.ResizeRefused, pod.Container, mc.Generation = "", small, 2
		}, true},
		"it has it":                  {func(pod *slots.Pod, _ *cachev1.Memcached, _ *Current) { pod.Instruction.Memory = 256 * mib }, true},
		"it was created at the time": {func(pod *slots.Pod, _ *cachev1.Memcached, _ *Current) { pod.Created = step }, true},
		"it waits for a Node":        {func(pod *slots.Pod, _ *cachev1.Memcached, _ *Current) { pod.MemcachedReady = false }, true},
		"it ends":                    {func(pod *slots.Pod, _ *cachev1.Memcached, _ *Current) { pod.Terminating = true }, true},
		"it is of another template":  {func(pod *slots.Pod, _ *cachev1.Memcached, _ *Current) { pod.Hash = "a" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			mc := memcachedWith(autoscaled())
			live := deployedBy(t, mc, with)
			live.Spec.Template.Spec.Containers = []corev1.Container{{Name: "memcached", Args: []string{"--memory-limit=64"}}}
			mc.Status.Autoscaling = chosen("256Mi").Autoscaling
			mc.Status.Autoscaling.Memory.ChangedAt = new(metav1.NewTime(step))
			mc.Status.Autoscaling.Memory.Former = resource.NewQuantity(64*mib, resource.BinarySI)
			mc.Generation = 1
			mc.Status.Conditions = []metav1.Condition{{Type: cachev1.ConditionReady, ObservedGeneration: 1}}
			current := currently(live)
			current.Usage.Reports.Since = step
			pod := slots.Pod{
				Name: "a", Hash: "b", Created: step.Add(-time.Hour), MemcachedReady: true, Container: large, Actual: small,
				ResizeRefused: corev1.PodReasonDeferred,
			}
			tc.change(&pod, mc, &current)
			current.Slots = CurrentSlots{Hash: "b", Pods: []slots.Pod{pod}}
			memory := planOf(t, mc, current, with).Autoscaling.Memory
			if isKept := memory.Memory == 256*mib && memory.Refused == 0; isKept != tc.isKept {
				t.Errorf("the Pods get %d MiB; refused: %d MiB", memory.Memory/mib, memory.Refused/mib)
			}
		})
	}
}

func TestWhatKeepsTheMemoryFromFollowingTheUse(t *testing.T) {
	tests := map[string]struct {
		change func(*cachev1.MemcachedSpec)
		want   string
	}{
		"nothing": {func(*cachev1.MemcachedSpec) {}, ""},
		"no agent observes the requests": {func(s *cachev1.MemcachedSpec) {
			s.Slots, s.Metrics = nil, &cachev1.Metrics{Mode: cachev1.MetricsDisabled}
			s.Autoscaling.Memory.Mode = cachev1.AutoscalingObserve
		}, "remove spec.metrics.mode, or add spec.slots"},
		"the least memory has no room for the largest item": {func(s *cachev1.MemcachedSpec) {
			s.MaxItemSize = new(resource.MustParse("32Mi"))
		}, "spec.autoscaling.memory.min 32Mi is less than twice spec.maxItemSize, and memcached would not start: " +
			"raise it to at least 64Mi"},
		"the container has no room for the most memory": {func(s *cachev1.MemcachedSpec) {
			s.Resources = &cachev1.MemcachedResources{Resources: cachev1.Resources{
				Limits: corev1.ResourceList{"memory": resource.MustParse("1Gi")},
			}}
		}, `spec.resources.limits.memory "1Gi" is less than a full Pod needs with spec.autoscaling.memory.max 1Gi: raise it`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			mc := memcachedWith(autoscaled())
			tc.change(&mc.Spec)
			_, err := computed(mc, Current{SecretsUsable: true}, defaults)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

// planOf returns the plan of a cache whose spec is valid.
func planOf(t *testing.T, mc *cachev1.Memcached, current Current, defaults Defaults) Plan {
	t.Helper()
	p, err := computed(mc, current, defaults)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
