package report

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestPercentile(t *testing.T) {
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = 100 - i
	}
	tests := map[string]struct {
		values []int
		p      float64
		want   int
		none   bool
	}{
		"of nothing there is none":                 {nil, 50, 0, true},
		"of one value it is that":                  {[]int{7}, 99, 7, false},
		"half of a hundred do not exceed the 50th": {hundred, 50, 50, false},
		"99 of a hundred do not exceed the 99th":   {hundred, 99, 99, false},
		"of three, two thirds are not yet 99%":     {[]int{3, 1, 2}, 99, 3, false},
		"half of three is more than one":           {[]int{3, 1, 2}, 50, 2, false},
		"none exceeds the 100th":                   {hundred, 100, 100, false},
		"the 0th is the least":                     {hundred, 0, 1, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := Percentile(tc.values, tc.p)
			if got != tc.want || ok == tc.none {
				t.Errorf("Percentile(%v) = %d, %t, want %d, %t", tc.p, got, ok, tc.want, !tc.none)
			}
		})
	}
}

func TestMedian(t *testing.T) {
	tests := map[string]struct {
		values []float64
		want   float64
	}{
		"of nothing there is none":           {nil, math.NaN()},
		"of one value it is that":            {[]float64{3}, 3},
		"of an odd number it is the middle":  {[]float64{5, 1, 100, 2, 3}, 3},
		"of an even number it is the middle": {[]float64{4, 1, 2, 100}, 3},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Median(tc.values), cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("median (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFit(t *testing.T) {
	tests := map[string]struct {
		xs, ys []float64
		want   Line
	}{
		"points on a line": {[]float64{0, 10, 20}, []float64{5, 25, 45}, Line{Start: 5, Slope: 2}},
		"one of them is off: 10 where the line says 19": {
			[]float64{0, 1, 2, 3}, []float64{20, 30, 10, 20}, Line{Start: 23, Slope: -2, Off: 9.0 / 19},
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
