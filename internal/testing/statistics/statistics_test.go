package statistics

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestPercentile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	tests := map[string]struct {
		values  []float64
		p, want float64
	}{
		"no values":                       {nil, 50, math.NaN()},
		"one value":                       {[]float64{7}, 99, 7},
		"the 50th of a hundred":           {hundred, 50, 50},
		"the 99th of a hundred":           {hundred, 99, 99},
		"two of three values are not 99%": {[]float64{3, 1, 2}, 99, 3},
		"one of three values is not half": {[]float64{3, 1, 2}, 50, 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Percentile(tc.values, tc.p), cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("percentile (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFit(t *testing.T) {
	tests := map[string]struct {
		xs, ys []float64
		want   Line
	}{
		"points on a line": {[]float64{0, 10, 20}, []float64{5, 25, 45}, Line{Start: 5, Slope: 2, Noise: 0}},
		"one of them is off: 10 where the line has 19": {
			[]float64{0, 1, 2, 3}, []float64{20, 30, 10, 20}, Line{Start: 23, Slope: -2, Noise: 2 * math.Sqrt(18), Off: 9.0 / 19},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Fit(tc.xs, tc.ys), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("line (-want +got):\n%s", diff)
			}
		})
	}
}
