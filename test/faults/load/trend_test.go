package load

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestATrendIsJudgedOnlyWhereTheSamplesSuffice(t *testing.T) {
	const leak, unclear = "so the operator leaks", "not enough samples"
	tests := map[string]struct {
		samples       int
		growth, noise float64 // over all samples, whose mean is about 100
		want          string  // a part of the error; no error if it is empty
	}{
		"the same value each time":             {50, 0, 0, ""},
		"noise without growth":                 {50, 0, 20, ""},
		"a leak without noise":                 {50, 10, 0, leak},
		"a leak that noise does not cover":     {50, 40, 10, leak},
		"a leak in noise that it exceeds":      {50, 100, 60, leak},
		"a growth that noise covers by far":    {50, 2, 80, unclear},
		"a small leak in very quiet samples":   {50, 4, 0.5, leak},
		"noise alone, as large as what's held": {50, 0, 100, unclear},
		"no sample":                            {0, 0, 0, unclear},
		"a few samples":                        {9, 0, 0, unclear},
		"just enough samples":                  {10, 0, 0, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // the same samples each time
			var at []time.Duration
			var values []float64
			for i := range tc.samples {
				at = append(at, time.Duration(i)*10*time.Second)
				values = append(values, 100+tc.growth*float64(i)/49+tc.noise*(r.Float64()-0.5))
			}
			got := trend(at, values)
			err := got.Judge("bytes of the heap", 2)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%+v: error %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestOnlyTheLeastOfEachPeriodCounts(t *testing.T) {
	at, values := least(
		[]time.Duration{0, 5 * time.Second, 29 * time.Second, 30 * time.Second, 95 * time.Second, 100 * time.Second},
		[]float64{50, 47, 72, 61, 48, 49}, 30*time.Second)
	type samples struct {
		At     []time.Duration
		Values []float64
	}
	want := samples{[]time.Duration{5 * time.Second, 30 * time.Second, 95 * time.Second}, []float64{47, 61, 48}}
	if diff := cmp.Diff(want, samples{at, values}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
