package actions

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestAnAdmissionPolicyLastsAndRefusesWhatIsWritten(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same seed must give the same policy
		with := drawRefusal(r).(refusal)
		of := write{with.Group, with.Resource, with.Operation}
		if with.For.Duration < leastRefusal || with.OperatorOnly && !slices.Contains(byOperator, of) {
			t.Errorf("seed %d: %+v ends before it acts, or the operator does not write that", seed, with)
		}
	}
}
