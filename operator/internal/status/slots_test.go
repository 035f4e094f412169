package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

func TestASlotIsCountedOnceWhenAnotherPodTakesIt(t *testing.T) {
	at := func(minute int, state cachev1.SlotState, pod, reason string) []cachev1.SlotStatus {
		since := metav1.NewTime(time.Unix(1_000_000, 0).Add(time.Duration(minute) * time.Minute))
		return []cachev1.SlotStatus{{Name: "shop-0", Pod: pod, State: state, Reason: reason, Since: &since}}
	}
	const serving, copying, cold = cachev1.SlotServing, cachev1.SlotCopying, cachev1.SlotCold
	noPod := at(1, cold, "", slots.ReasonNoPod)
	tests := map[string]struct {
		before, now        []cachev1.SlotStatus
		wantKept, wantCold int
	}{
		"a new slot is neither":                       {before: nil, now: at(0, serving, "a", "")},
		"a slot at rest is neither":                   {before: at(0, serving, "a", ""), now: at(0, serving, "a", "")},
		"a copy that begins is neither":               {before: at(0, serving, "a", ""), now: at(1, copying, "a", "")},
		"a copy that is given up is neither":          {before: at(1, copying, "a", ""), now: at(0, serving, "a", "")},
		"a slot that moved with its keys is kept":     {before: at(1, copying, "a", ""), now: at(2, serving, "b", ""), wantKept: 1},
		"also if the copy was never reported":         {before: at(0, serving, "a", ""), now: at(2, serving, "b", ""), wantKept: 1},
		"the same again is neither":                   {before: at(2, serving, "b", ""), now: at(2, serving, "b", "")},
		"a copy that failed is cold":                  {before: at(1, copying, "a", ""), now: at(2, cold, "b", "OldEnded"), wantCold: 1},
		"still cold is neither":                       {before: at(2, cold, "b", "OldEnded"), now: at(2, cold, "b", "OldEnded")},
		"a Pod that ended is neither yet":             {before: at(0, serving, "a", ""), now: noPod},
		"the next Pod of the slot is cold":            {before: noPod, now: at(2, cold, "b", slots.ReasonPodLost), wantCold: 1},
		"cold for the same reason, but another Pod":   {before: at(2, cold, "b", "OldEnded"), now: at(3, cold, "c", "OldEnded"), wantCold: 1},
		"a cold Pod that is copied is neither":        {before: at(2, cold, "b", "OldEnded"), now: at(3, copying, "b", "")},
		"and if that is given up it is neither again": {before: at(3, copying, "b", ""), now: at(2, cold, "b", "OldEnded")},
		"an edited instruction is cold":               {before: at(0, serving, "a", ""), now: at(1, cold, "a", slots.ReasonInstructionLost), wantCold: 1},
		"a spec without handoffs is neither":          {before: at(0, serving, "a", ""), now: at(1, cold, "b", slots.ReasonNever)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before, now := cachev1.MemcachedStatus{Slots: tc.before}, cachev1.MemcachedStatus{Slots: tc.now}
			decided := []slots.Status{{Name: "shop-0", Pod: tc.now[0].Pod}}
			decided[0].Took = time.Minute
			kept := Kept(before, now, decided)
			if len(kept) != tc.wantKept {
				t.Errorf("kept: %+v", kept)
			}
			for _, slot := range kept {
				if diff := cmp.Diff(HandedOver{Name: "shop-0", From: "a", To: "b", Took: time.Minute}, slot); diff != "" {
					t.Errorf("kept (-want +got):\n%s", diff)
				}
			}
			if cold := StartedCold(before, now); len(cold) != tc.wantCold {
				t.Errorf("cold: %+v", cold)
			}
		})
	}
}

func TestSlotsToBeHandedOverAreInTheMessageWhilePodsAreReplaced(t *testing.T) {
	with := func(progress string, terminating ...slots.Status) *plan.Slots {
		return &plan.Slots{Decision: slots.Decision{Progress: progress, Slots: append(terminating, slots.Status{Name: "shop-9"})}}
	}
	ends := time.Date(2026, 11, 24, 15, 0, 0, 0, time.UTC)
	waiting := func(slot string) slots.Status {
		return slots.Status{Name: slot, State: instruction.StateServing, Ends: ends}
	}
	const waits = ": its Pod terminates, but first waits, until 2026-11-24T15:00:00Z at the latest, for a new Pod that copies its keys"
	tests := map[string]struct {
		slots *plan.Slots
		state state
		want  string
	}{
		"without slots there is none":        {slots: nil, state: reconciling},
		"at rest there is none":              {slots: with(""), state: reconciling},
		"while Pods are replaced":            {slots: with("1 of 3 slots"), state: reconciling, want: "; 1 of 3 slots"},
		"a cache that can't progress has no": {slots: with("1 of 3 slots", waiting("shop-0")), state: stalled},
		"a Pod terminates, and waits for its successor": {
			slots: with("1 of 3 slots", waiting("shop-0")), state: reconciling, want: "; 1 of 3 slots; slot shop-0" + waits,
		},
		"a Pod terminates while its keys are copied": {
			slots: with("1 of 3 slots", slots.Status{Name: "shop-0", State: instruction.StateCopying, Ends: ends}), state: reconciling,
			want: "; 1 of 3 slots; slot shop-0: its Pod terminates once its keys are copied, at 2026-11-24T15:00:00Z at the latest",
		},
		"five Pods terminate": {
			slots: with("5 of 9 slots", waiting("shop-0"), waiting("shop-1"), waiting("shop-2"), waiting("shop-3"), waiting("shop-4")),
			state: reconciling,
			want: "; 5 of 9 slots; slot shop-0" + waits + "; slot shop-1" + waits + "; slot shop-2" + waits +
				"; 2 more Pods with slots terminate",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := handoffProgress(Input{Plan: plan.Plan{Slots: tc.slots}}, verdict{state: tc.state})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestASuspendedMemcachedReportsTheSlotsThatWait(t *testing.T) {
	decided := []slots.Status{
		{Name: "shop-0", Pod: "a0"}, {Name: "shop-1", Pod: "a1", Ends: time.Date(2026, 11, 24, 15, 0, 0, 0, time.UTC)},
		{Name: "shop-2", Reason: slots.ReasonNoPod}, {Name: "shop-3"}, {Name: "shop-4"}, {Name: "shop-5"},
	}
	const want = "; slot shop-1: its Pod terminates, and no other Pod takes the slot while spec.suspend is true" +
		"; slot shop-2: no Pod takes it while spec.suspend is true; slot shop-3: no Pod takes it while spec.suspend is true" +
		"; 2 more slots wait"
	in := Input{Plan: plan.Plan{Suspended: true, Slots: &plan.Slots{Decision: slots.Decision{Slots: decided}}}}
	if diff := cmp.Diff(want, handoffProgress(in, verdict{state: reconciling})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheSlotsOfAnInvalidSpecAreReportedIfTheyAreKept(t *testing.T) {
	decided := &plan.Slots{Decision: slots.Decision{Slots: []slots.Status{{Name: "cache-0", Pod: "new"}}}}
	for pod, kept := range map[string]*plan.Plan{"new": {Slots: decided}, "old": nil} {
		in := rolledOut()
		in.Memcached.Status.Slots = []cachev1.SlotStatus{{Name: "cache-0", Pod: "old"}}
		in.Plan, in.Invalid = plan.Plan{}, &plan.Invalid{Kept: kept}
		if got := Evaluate(in).Slots; len(got) != 1 || got[0].Pod != pod {
			t.Errorf("slots %+v, want that of Pod %s", got, pod)
		}
	}
}

func TestHandingOverIsTheReasonWhileSlotsAreToBeHandedOver(t *testing.T) {
	handsOver := &plan.Slots{Decision: slots.Decision{Progress: "1 of 3 slots are still to be handed over, 1 being copied"}}
	deployed := func(in *Input) *appsv1.DeploymentStatus { return &in.Snapshot.Deployment().Status }
	was := func(in *Input, reason string, generation int64) {
		in.Memcached.Status.Conditions = []metav1.Condition{{Type: "Ready", Reason: reason, ObservedGeneration: generation}}
	}
	rolling := func(in *Input) { deployed(in).Conditions[0].Reason = "ReplicaSetUpdated" }
	missing := func(in *Input) { deployed(in).ReadyReplicas, deployed(in).AvailableReplicas = 2, 2 }
	tests := map[string]struct {
		change  func(*Input)
		slots   *plan.Slots
		want    string
		message string
	}{
		"a rollout": {
			change: func(in *Input) { rolling(in); deployed(in).UpdatedReplicas = 1 }, slots: handsOver,
			want: cachev1.ReasonHandingOver, message: "1 of 3 Pods replaced; " + handsOver.Progress,
		},
		"a rollout after the last handoff": {
			change: func(in *Input) { rolling(in); deployed(in).Replicas = 4 }, slots: &plan.Slots{},
			want: cachev1.ReasonRollingOut, message: "2 of 3 Pods replaced",
		},
		"an evicted Pod": {
			change: func(in *Input) { was(in, cachev1.ReasonAllPodsReady, 7); missing(in) }, slots: handsOver,
			want: cachev1.ReasonHandingOver, message: "2 of 3 Pods ready; " + handsOver.Progress,
		},
		"a Pod that was lost, without a handoff": {
			change: func(in *Input) { was(in, cachev1.ReasonAllPodsReady, 7); missing(in) }, slots: &plan.Slots{},
			want: cachev1.ReasonPodsNotReady, message: "2 of 3 Pods ready",
		},
		"an evicted Pod whose successor has just taken the slot": {
			change: func(in *Input) { was(in, cachev1.ReasonHandingOver, 7); missing(in) },
			slots:  &plan.Slots{Decision: slots.Decision{Moving: true}},
			want:   cachev1.ReasonHandingOver, message: "2 of 3 Pods ready",
		},
		"an evicted Pod whose successor is not ready after the handoff": {
			change: func(in *Input) {
				was(in, cachev1.ReasonHandingOver, 7)
				missing(in)
				in.Snapshot.Pods[2].Ready = false
			},
			slots: &plan.Slots{}, want: cachev1.ReasonPodsNotReady, message: "2 of 3 Pods ready",
		},
		"an evicted Pod whose successor is ready, and not counted yet": {
			change: func(in *Input) { was(in, cachev1.ReasonHandingOver, 7); missing(in) }, slots: &plan.Slots{},
			want: cachev1.ReasonHandingOver, message: "2 of 3 Pods ready",
		},
		"the successor cannot be scheduled": {
			change: func(in *Input) {
				was(in, cachev1.ReasonAllPodsReady, 7)
				missing(in)
				in.Snapshot.Pods[2] = observe.Pod{Name: "cache-d", Problem: "cannot be scheduled: 0/3 nodes are available"}
			},
			slots: handsOver, want: cachev1.ReasonPodsNotReady,
			message: "2 of 3 Pods ready; 1 Pod: cannot be scheduled: 0/3 nodes are available; " + handsOver.Progress,
		},
		"a handoff that does not end": {
			change: func(in *Input) {
				was(in, cachev1.ReasonHandingOver, 7)
				missing(in)
				in.Now = time.Unix(1_000_000, 0)
				in.Memcached.Status.ObservedGeneration, in.Plan.Rollout.ProgressDeadlineSeconds = 7, 600
				in.Memcached.Status.ProgressingSince = &metav1.Time{Time: in.Now.Add(-time.Hour)}
			},
			slots: handsOver, want: cachev1.ReasonProgressDeadlineExceeded,
			message: "No progress for 600 seconds (spec.rollout.progressDeadlineSeconds): 2 of 3 Pods ready; " + handsOver.Progress,
		},
		"all Pods are ready": {change: func(*Input) {}, slots: handsOver, want: cachev1.ReasonAllPodsReady, message: "3 of 3 Pods ready"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := rolledOut()
			tc.change(&in)
			in.Plan.Slots = tc.slots
			ready := meta.FindStatusCondition(Evaluate(in).Conditions, cachev1.ConditionReady)
			if diff := cmp.Diff([]string{tc.want, tc.message}, []string{ready.Reason, ready.Message}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
