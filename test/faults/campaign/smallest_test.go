package campaign

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTheResultFailsAndNeedsEachOfItsItems uses a random condition. It need not be monotone: it may hold for some
// items, and not hold if an item is added.
func TestTheResultFailsAndNeedsEachOfItsItems(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same seed must give the same condition
		items := r.Perm(1 + r.IntN(24))
		fails := func(part []int) bool {
			random := rand.New(rand.NewPCG(seed, checksum(part))) //nolint:gosec // see above
			return len(part) == len(items) || random.IntN(3) == 0
		}
		result := smallest(items, fails)
		if !fails(result) {
			t.Fatalf("seed %d: the result %v does not fail", seed, result)
		}
		if !slices.IsSortedFunc(result, func(a, b int) int { return slices.Index(items, a) - slices.Index(items, b) }) {
			t.Fatalf("seed %d: the result %v is not in the order of %v", seed, result, items)
		}
		for i := range result {
			if rest := slices.Delete(slices.Clone(result), i, i+1); fails(rest) {
				t.Fatalf("seed %d: the result %v can do without %d", seed, result, result[i])
			}
		}
	}
}

func TestAnEndOfPatienceEndsTheSearch(t *testing.T) {
	tries := 0
	result := smallest([]int{1, 2, 3, 4, 5, 6, 7, 8}, func(items []int) bool {
		tries++
		return tries <= 2 && slices.Contains(items, 8)
	})
	if diff := cmp.Diff([]int{5, 6, 7, 8}, result); diff != "" {
		t.Errorf("smallest (-want +got):\n%s", diff)
	}
}

func checksum(items []int) (sum uint64) {
	for _, item := range items {
		sum = sum*31 + uint64(item) + 1 //nolint:gosec // small and positive
	}
	return sum
}
