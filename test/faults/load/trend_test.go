package load

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestOnlyGrowthThatIsMoreThanNoiseIsNotFlat(t *testing.T) {
	tests := map[string]struct {
		growth, noise float64 // over all samples, of a mean of about 100
		flat          bool
	}{
		"the same value each time":             {0, 0, true},
		"noise without growth":                 {0, 20, true},
		"less than what counts":                {1, 0, true},
		"a leak without noise":                 {10, 0, false},
		"a leak that noise does not cover":     {40, 10, false},
		"values that fall":                     {-30, 5, true},
		"a growth that noise covers by far":    {2, 40, true},
		"a leak that doubles what is held":     {100, 20, false},
		"a small leak in very quiet samples":   {4, 0.5, false},
		"noise alone, as large as what's held": {0, 100, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // the same samples each time
			var at []time.Duration
			var values []float64
			for i := range 50 {
				at = append(at, time.Duration(i)*10*time.Second)
				values = append(values, 100+tc.growth*float64(i)/49+tc.noise*(r.Float64()-0.5))
			}
			if got := trend(at, values); got.Flat() != tc.flat {
				t.Errorf("%+v: flat %t, want %t", got, got.Flat(), tc.flat)
			}
		})
	}
}
