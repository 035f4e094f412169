package metrics

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func withReason(reason string) *cachev1.Memcached {
	mc := &cachev1.Memcached{}
	if reason != "" {
		mc.Status = statusOf(reason)
	}
	return mc
}

func usedAs(reasons ...string) *cachev1.Memcached {
	day := &cachev1.UsualDay{}
	for _, reason := range reasons {
		day.Deviations = append(day.Deviations, cachev1.Deviation{Reason: reason})
	}
	mc := &cachev1.Memcached{}
	mc.Status.Autoscaling = &cachev1.AutoscalingStatus{UsualDay: day}
	return mc
}

func TestMemcachedsAreCountedByReason(t *testing.T) {
	ready, invalid := withReason(cachev1.ReasonAllPodsReady), withReason(cachev1.ReasonInvalidSpec)
	tests := map[string]struct {
		happens       func(*Memcacheds)
		want, unusual map[string]float64
	}{
		"none": {happens: func(*Memcacheds) {}},
		"one that deviates twice, and one that did": {
			happens: func(m *Memcacheds) {
				m.count(nil, usedAs(cachev1.ReasonLatencyRose, cachev1.ReasonConnectionsRose))
				m.count(nil, usedAs(cachev1.ReasonHitRatioFell))
				m.count(usedAs(cachev1.ReasonHitRatioFell), usedAs())
			},
			unusual: map[string]float64{"LatencyRose": 1, "ConnectionsRose": 1},
		},
		"some, one of them without a status yet": {
			happens: func(m *Memcacheds) {
				m.count(nil, ready)
				m.count(nil, ready)
				m.count(nil, invalid)
				m.count(nil, withReason(""))
			},
			want: map[string]float64{"AllPodsReady": 2, "InvalidSpec": 1},
		},
		"one that got a status": {happens: func(m *Memcacheds) { m.count(nil, withReason("")); m.count(withReason(""), ready) }, want: map[string]float64{"AllPodsReady": 1}},
		"one that changed":      {happens: func(m *Memcacheds) { m.count(nil, ready); m.count(ready, invalid) }, want: map[string]float64{"InvalidSpec": 1}},
		"one with an invented reason": {
			happens: func(m *Memcacheds) { m.count(nil, withReason("MadeUp")); m.count(withReason("MadeUp"), ready) },
			want:    map[string]float64{"AllPodsReady": 1},
		},
		"one that did not":     {happens: func(m *Memcacheds) { m.count(nil, ready); m.count(ready, ready) }, want: map[string]float64{"AllPodsReady": 1}},
		"one that was deleted": {happens: func(m *Memcacheds) { m.count(nil, ready); m.count(ready, nil) }},
		"one that was deleted, reported late": {happens: func(m *Memcacheds) {
			m.count(nil, ready)
			m.count(toolscache.DeletedFinalStateUnknown{Obj: ready}, nil)
		}},
		"one that was deleted, with unknown state": {happens: func(m *Memcacheds) { m.count(toolscache.DeletedFinalStateUnknown{}, nil) }},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			m := NewMemcacheds(registry, nil)
			m.begin()
			tc.happens(m)
			want := map[string]float64{}
			for _, reason := range reasons {
				want["memcached_operator_memcacheds "+reason] = tc.want[reason]
			}
			for _, reason := range deviations {
				want["memcached_operator_unusual_memcacheds "+reason] = tc.unusual[reason]
			}
			if diff := cmp.Diff(want, counts(t, registry)); diff != "" {
				t.Errorf("Memcacheds (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnOperatorThatIsNotTheLeaderExportsNothing(t *testing.T) {
	registry := prometheus.NewRegistry()
	NewMemcacheds(registry, nil)
	if got := counts(t, registry); len(got) > 0 {
		t.Errorf("it exports %v", got)
	}
}

func TestACacheWithoutInformersIsAnError(t *testing.T) {
	err := NewMemcacheds(prometheus.NewRegistry(), broken{}).Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "count the Memcacheds: the cache failed") {
		t.Errorf("error: %v", err)
	}
}

// broken is a cache without informers.
type broken struct{ cache.Informers }

func (broken) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return nil, errors.New("the cache failed")
}
