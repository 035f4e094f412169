package kubelet

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// moment is the role in the instruction of a Pod, and the status that the Pod must have a while later.
type moment struct {
	role  string
	later time.Duration
	want  string
}

func running() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "n", UID: "p", Annotations: map[string]string{}, Labels: map[string]string{"memcached_cr": "a"},
		},
		Spec: corev1.PodSpec{ReadinessGates: []corev1.PodReadinessGate{{ConditionType: gate}}},
		Status: corev1.PodStatus{
			Phase:                 corev1.PodRunning,
			ContainerStatuses:     []corev1.ContainerStatus{{Name: "memcached", Ready: true}},
			InitContainerStatuses: []corev1.ContainerStatus{{Name: agent}},
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionFalse},
				{Type: corev1.ContainersReady, Status: corev1.ConditionFalse},
				{Type: gate, Status: corev1.ConditionTrue},
			},
		},
	}
}

// seen describes the status of a Pod.
func seen(pod *corev1.Pod) string {
	status := pod.Status.InitContainerStatuses[0]
	text := map[bool]string{true: "ready", false: "not ready"}[isTrue(pod.Status.Conditions, corev1.PodReady)]
	if ended := status.LastTerminationState.Terminated; ended != nil {
		text += fmt.Sprintf(", ended with %d", ended.ExitCode)
	}
	return text
}

func TestAPodIsReadyWhenItsAgentAndItsGateAre(t *testing.T) {
	const long, short = time.Minute, 10 * time.Millisecond
	tests := map[string]struct {
		fault   string
		moments []moment
	}{
		"without an instruction":     {"", []moment{{"", long, "not ready"}}},
		"an instruction takes time":  {"", []moment{{"serve", short, "not ready"}, {"serve", long, "ready"}}},
		"a copy takes time":          {"", []moment{{"receive", 600 * time.Millisecond, "not ready"}, {"receive", long, "ready"}}},
		"the agent serves on":        {"", []moment{{"receive", long, "not ready"}, {"receive", long, "ready"}, {"moved", long, "ready"}}},
		"it lost its instruction":    {"", []moment{{"serve", long, "ready"}, {"", long, "not ready"}}},
		"a copy that hangs":          {Hangs, []moment{{"receive", long, "not ready"}, {"receive", long, "not ready"}}},
		"a copy that fails":          {Fails, []moment{{"receive", long, "not ready, ended with 3"}}},
		"an agent that is killed":    {Restarts, []moment{{"receive", long, "not ready, ended with 137"}}},
		"a fault of copies, without": {Fails, []moment{{"serve", long, "ready"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := &Kubelet{agents: map[types.UID]*player{}}
			if tc.fault != "" {
				k.Begin(&Fault{Namespace: "n", Cache: "a", Kind: tc.fault, Struck: func() {}})
			}
			pod, now := running(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			for _, m := range tc.moments {
				pod.Annotations[annotation] = fmt.Sprintf(`{"role":%q,"slot":"a-0"}`, m.role)
				k.play(pod, now)
				now = now.Add(m.later)
				k.play(pod, now)
				if diff := cmp.Diff(m.want, seen(pod)); diff != "" {
					t.Errorf("%s, %v later (-want +got):\n%s", m.role, m.later, diff)
				}
			}
		})
	}
}

func TestAPodIsNotReadyWithoutItsGate(t *testing.T) {
	pod := running()
	pod.Status.InitContainerStatuses[0].Ready = true
	pod.Status.Conditions[2].Status = corev1.ConditionFalse
	SetConditions(pod, "ContainersNotReady")
	if isTrue(pod.Status.Conditions, corev1.PodReady) || !isTrue(pod.Status.Conditions, corev1.ContainersReady) {
		t.Errorf("conditions: %+v", pod.Status.Conditions)
	}
}

func TestAPodThatTerminatesServesUntilNobodyNeedsIt(t *testing.T) {
	const other, itself, nobody = "other", "p", ""
	tests := map[string]struct {
		role, holder string
		copied       bool
		want         time.Duration
	}{
		"it never had a slot":                    {"", nobody, false, 0},
		"it gave its slot away before":           {"leave", other, false, drains},
		"another Pod has its slot":               {"serve", other, true, drains},
		"its slot or the cache was deleted":      {"serve", nobody, false, remembered},
		"no other Pod comes":                     {"serve", itself, false, patience},
		"another Pod copies its keys, and hangs": {"cold", itself, true, handoffs},
		"it took its slot before it was deleted": {"moved", itself, false, patience},
		"it was copying keys itself":             {"receive", other, false, drains},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			pod := running()
			pod.DeletionTimestamp = &metav1.Time{Time: now.Add(time.Hour)}
			k := &Kubelet{agents: map[types.UID]*player{"p": {namespace: "n", current: Order{Slot: "a-0", Role: tc.role}}}}
			if tc.copied {
				k.agents["q"] = &player{namespace: "n", current: Order{Slot: "a-0", Role: "receive"}}
			}
			found := holders{{Namespace: "n", Name: "a-0"}: types.UID(tc.holder)}
			began := now
			for ; !k.ends(pod, found, now); now = now.Add(time.Second) {
			}
			if diff := cmp.Diff(tc.want, now.Sub(began)); diff != "" {
				t.Errorf("ended after (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPodThatTerminatesEndsWithItsGracePeriod(t *testing.T) {
	now, pod := time.Now(), running()
	pod.DeletionTimestamp = &metav1.Time{Time: now.Add(-time.Second)}
	k := &Kubelet{agents: map[types.UID]*player{"p": {current: Order{Slot: "a-0", Role: "serve"}}}}
	if !k.ends(pod, holders{{Name: "a-0"}: "p"}, now) {
		t.Error("it runs on")
	}
}

func TestAPodIsResizedUnlessItsNodeHasNoRoom(t *testing.T) {
	k, now := &Kubelet{agents: map[types.UID]*player{}}, time.Now()
	pod := running()
	pod.Status.ContainerStatuses[0].State.Running = &corev1.ContainerStateRunning{}
	becomes := func(memory, want string) {
		t.Helper()
		requirements := corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}
		pod.Spec.Containers = []corev1.Container{{Name: "memcached", Resources: requirements}}
		k.play(pod, now)
		got := pod.Status.ContainerStatuses[0].Resources.Limits.Memory().String()
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodResizePending {
				got += " " + c.Reason
			}
		}
		if got != want {
			t.Errorf("with %s: %s, want %s", memory, got, want)
		}
	}
	full, struck := &Fault{Namespace: "n", Cache: "a", Kind: Deferred}, 0
	full.Struck = func() { struck++ }
	k.Begin(full)
	becomes("1Gi", "1Gi") // it has just started
	becomes("2Gi", "1Gi Deferred")
	becomes("1Gi", "1Gi")
	becomes("2Gi", "1Gi Deferred")
	k.End(full)
	becomes("2Gi", "2Gi")
	if struck != 2 {
		t.Errorf("refused %d times", struck)
	}
}

func TestAResizeStopsHalfwayWhileAFaultLasts(t *testing.T) {
	k, now := &Kubelet{agents: map[types.UID]*player{}}, time.Now()
	pod := running()
	pod.Status.ContainerStatuses[0].State.Running = &corev1.ContainerStateRunning{}
	becomes := func(memory, want string) {
		t.Helper()
		list := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}
		requirements := corev1.ResourceRequirements{Requests: list, Limits: list}
		pod.Spec.Containers = []corev1.Container{{Name: "memcached", Resources: requirements}}
		k.play(pod, now)
		got := pod.Status.ContainerStatuses[0].Resources
		if is := got.Requests.Memory().String() + " of " + got.Limits.Memory().String(); is != want {
			t.Errorf("with %s: %s, want %s", memory, is, want)
		}
	}
	half := &Fault{Namespace: "n", Cache: "a", Kind: Halfway, Struck: func() {}}
	k.Begin(half)
	becomes("1Gi", "1Gi of 1Gi") // it has just started
	becomes("2Gi", "2Gi of 1Gi")
	becomes("2Gi", "2Gi of 1Gi")
	k.End(half)
	becomes("2Gi", "2Gi of 2Gi")
}

func TestMemcachedHasTheMemoryOfItsInstructionOrItsStart(t *testing.T) {
	pod := running()
	pod.Spec.Containers = []corev1.Container{{Name: "memcached", Args: []string{"--threads=4", "--memory-limit=64"}}}
	for instruction, want := range map[string]int64{
		"": 64 << 20, "no JSON": 64 << 20, `{"role":"serve"}`: 64 << 20, `{"role":"serve","memory":134217728}`: 128 << 20,
	} {
		pod.Annotations = map[string]string{annotation: instruction}
		if got := ItemMemory(pod); got != want {
			t.Errorf("with %q: %d, want %d", instruction, got, want)
		}
	}
}
