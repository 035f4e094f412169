package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
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
			if kept := Kept(before, now, decided); len(kept) != tc.wantKept {
				t.Errorf("kept: %+v", kept)
			}
			if cold := StartedCold(before, now); len(cold) != tc.wantCold {
				t.Errorf("cold: %+v", cold)
			}
		})
	}
}

func TestSlotsToBeHandedOverAreInTheMessageWhilePodsAreReplaced(t *testing.T) {
	with := func(progress string) *plan.Slots { return &plan.Slots{Decision: slots.Decision{Progress: progress}} }
	tests := map[string]struct {
		slots *plan.Slots
		state state
		want  string
	}{
		"without slots there is none":        {slots: nil, state: reconciling},
		"at rest there is none":              {slots: with(""), state: reconciling},
		"while Pods are replaced":            {slots: with("1 of 3 slots"), state: reconciling, want: "; 1 of 3 slots"},
		"a cache that can't progress has no": {slots: with("1 of 3 slots"), state: stalled},
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
