package metrics

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// sight is a Memcached in a reconciliation, with its result.
type sight struct {
	at                   time.Duration // since the operator started
	generation, observed int64
	suspended            bool
	reason               string
}

func TestTheTimeFromAChangeToReady(t *testing.T) {
	const ready, rolling = cachev1.ReasonAllPodsReady, cachev1.ReasonRollingOut
	tests := map[string]struct {
		created time.Duration
		sights  []sight
		want    []time.Duration
	}{
		"a new cache counts from its creation": {
			created: time.Second,
			sights: []sight{
				{at: 3 * time.Second, generation: 1, reason: rolling}, {at: 9 * time.Second, generation: 1, observed: 1, reason: ready},
			},
			want: []time.Duration{8 * time.Second},
		},
		"one that is older than the operator counts from when it was seen": {
			created: -time.Hour,
			sights: []sight{
				{at: 3 * time.Second, generation: 1, reason: rolling}, {at: 9 * time.Second, generation: 1, observed: 1, reason: ready},
			},
			want: []time.Duration{6 * time.Second},
		},
		"a change counts from when it was seen": {
			sights: []sight{
				{at: time.Minute, generation: 2, observed: 1, reason: rolling}, {at: 2 * time.Minute, generation: 2, observed: 2, reason: ready},
			},
			want: []time.Duration{time.Minute},
		},
		"a status that could not be written at first changes nothing": {
			sights: []sight{
				{at: time.Minute, generation: 2, observed: 1, reason: rolling}, {at: 2 * time.Minute, generation: 2, observed: 1, reason: rolling},
				{at: 3 * time.Minute, generation: 2, observed: 2, reason: ready},
			},
			want: []time.Duration{2 * time.Minute},
		},
		"a change that replaces nothing takes no time": {
			sights: []sight{{generation: 2, observed: 1, reason: ready}}, want: []time.Duration{0},
		},
		"of two changes the last counts": {
			sights: []sight{
				{at: time.Minute, generation: 2, observed: 1, reason: rolling}, {at: 2 * time.Minute, generation: 3, observed: 2, reason: rolling},
				{at: 3 * time.Minute, generation: 3, observed: 3, reason: ready},
			},
			want: []time.Duration{time.Minute},
		},
		"it is counted once": {
			sights: []sight{{generation: 2, observed: 1, reason: ready}, {generation: 2, observed: 2, reason: ready}},
			want:   []time.Duration{0},
		},
		"Pods that fail and become ready again are no change": {
			sights: []sight{
				{generation: 2, observed: 2, reason: cachev1.ReasonPodsNotReady}, {at: time.Minute, generation: 2, observed: 2, reason: ready},
			},
		},
		"a suspended cache is not measured": {
			sights: []sight{{generation: 2, observed: 1, suspended: true, reason: ready}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			start := time.Unix(1_000_000, 0)
			now := start
			w := newWaits()
			w.now, w.started = func() time.Time { return now }, start
			var got []time.Duration
			for _, s := range tc.sights {
				now = start.Add(s.at)
				mc := &cachev1.Memcached{}
				mc.CreationTimestamp = metav1.NewTime(start.Add(tc.created))
				mc.Generation, mc.Status.ObservedGeneration, mc.Spec.Suspend = s.generation, s.observed, s.suspended
				if took, ready := w.look(mc, statusOf(s.reason)); ready {
					got = append(got, took)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("measured (-want +got):\n%s", diff)
			}
			if last := tc.sights[len(tc.sights)-1]; last.reason == ready && len(w.since) > 0 {
				t.Errorf("it remembers %d changes", len(w.since))
			}
		})
	}
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	w := newWaits()
	w.now = func() time.Time { return now }
	see := func(n int) {
		mc := &cachev1.Memcached{}
		mc.UID, mc.Generation = types.UID(fmt.Sprint(n)), 2
		w.look(mc, statusOf(cachev1.ReasonRollingOut))
	}
	for n := range mostWaits + 10 {
		see(n)
	}
	if len(w.since) != mostWaits {
		t.Errorf("it remembers %d changes, want %d", len(w.since), mostWaits)
	}
	now = now.Add(longestWait + time.Second)
	see(mostWaits + 10)
	if len(w.since) != 1 {
		t.Errorf("after a day it remembers %d changes, want 1", len(w.since))
	}
}
