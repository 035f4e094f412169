package campaign

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheSmallestPart(t *testing.T) {
	has := func(wanted ...int) func([]int) bool {
		return func(items []int) bool {
			return !slices.ContainsFunc(wanted, func(item int) bool { return !slices.Contains(items, item) })
		}
	}
	tests := map[string]struct {
		items []int
		fails func([]int) bool
		want  []int
	}{
		"nothing of nothing":             {nil, has(), nil},
		"nothing if nothing is needed":   {[]int{1, 2, 3}, has(), nil},
		"the only one":                   {[]int{1}, has(1), []int{1}},
		"the first":                      {[]int{1, 2, 3, 4, 5}, has(1), []int{1}},
		"the last":                       {[]int{1, 2, 3, 4, 5}, has(5), []int{5}},
		"two that are far apart":         {[]int{1, 2, 3, 4, 5, 6, 7, 8}, has(1, 8), []int{1, 8}},
		"two next to each other":         {[]int{1, 2, 3, 4, 5, 6, 7, 8}, has(4, 5), []int{4, 5}},
		"all of them":                    {[]int{1, 2, 3}, has(1, 2, 3), []int{1, 2, 3}},
		"the order stays":                {[]int{3, 9, 1, 9, 2}, has(2, 3), []int{3, 2}},
		"one of two that are equal":      {[]int{7, 7}, has(7), []int{7}},
		"any two, whichever they may be": {[]int{1, 2, 3, 4}, func(i []int) bool { return len(i) >= 2 }, []int{3, 4}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, smallest(tc.items, tc.fails)); diff != "" {
				t.Errorf("smallest (-want +got):\n%s", diff)
			}
		})
	}
}

// A random condition, which need not be monotone: adding an item may make it hold no longer.
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
