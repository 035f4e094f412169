package scenarios

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/example-inc/memcached-operator/internal/testing/judging"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// rolledOut is a rollout from second 20 until second 24. In two of these seconds clients miss keys, and in one they
// read nothing.
func rolledOut() rollout {
	r := rollout{first: 20, last: 24, keys: 3000, bytes: 8 * mebibyte, seconds: 2}
	r.Untouched, r.Kept = 1000, 995
	for range 40 {
		r.Seconds = append(r.Seconds, judging.Second{Reads: 10, P99: 500})
	}
	r.Seconds[20] = judging.Second{Reads: 10, P99: 1000}
	r.Seconds[21] = judging.Second{Reads: 10, Misses: 4, P99: 1500}
	r.Seconds[22] = judging.Second{}
	r.Seconds[23] = judging.Second{Reads: 10, Misses: 1, P99: 1000}
	return r
}

func TestTheFiguresOfARollout(t *testing.T) {
	const p99, times = "p99 of clients during the rollout, against before", "1 ms against 0.50 ms"
	tests := map[cachev1.HandoffMode][]report.Figure{
		cachev1.HandoffAuto: {
			report.AtMost(1.2, "times", "handoff Auto: "+p99, 2, times),
			report.Unjudged("handoff Auto: copy", 4, "MiB/s", "1500 keys/s, from one Pod to another"),
		},
		cachev1.HandoffNever: {report.Unjudged("handoff Never: "+p99, 2, "times", times)},
	}
	for mode, further := range tests {
		t.Run(string(mode), func(t *testing.T) {
			r, name := rolledOut(), "handoff "+string(mode)+": "
			want := append([]report.Figure{
				report.Unjudged(name+"keys kept", 99.5, "%", "995 of 1000, in a rollout of 4 s"),
				report.Unjudged(name+"longest time with misses or without an answer", 3, "s"),
			}, further...)
			if diff := cmp.Diff(want, r.figures(mode)); diff != "" {
				t.Errorf("figures (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheCurvesOfARolloutBeginBeforeIt(t *testing.T) {
	r := rolledOut()
	hits, p99 := r.curves("x")
	if len(hits.Values) != calm+4+calm || len(p99.Values) != len(hits.Values) {
		t.Fatalf("%d and %d seconds", len(hits.Values), len(p99.Values))
	}
	want := []float64{100, 60, math.NaN(), 90, 100}
	if diff := cmp.Diff(want, hits.Values[calm:calm+5], cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
}

func TestTheScenariosThatAUserMeasures(t *testing.T) {
	tests := map[string]struct {
		names  []string
		isRoot bool
		want   int // scenarios
		error  string
	}{
		"a whole run by root":           {nil, true, len(All) - len(long), ""},
		"a whole run by another user":   {nil, false, len(All) - len(long) - len(realPods), ""},
		"what takes long, by its name":  {[]string{"large"}, false, 1, ""},
		"the scenario by root":          {[]string{"handoff"}, true, 1, ""},
		"the scenario by another user":  {[]string{"handoff"}, false, 0, "--only handoff: it runs Pods, which needs root"},
		"other scenarios, by this user": {[]string{"drift", "pure"}, false, 2, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			chosen, err := Choose(tc.names, tc.isRoot)
			if len(chosen) != tc.want || (err == nil) != (tc.error == "") || err != nil && err.Error() != tc.error {
				t.Errorf("%d scenarios, error %v", len(chosen), err)
			}
		})
	}
}
