package campaign

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/test/faults/actions"
	"github.com/example-inc/memcached-operator/test/faults/plan"
)

// Seeds is a range of seeds.
type Seeds struct{ First, Last uint64 }

// New stands for a random seed.
const New = "new"

// mostNew keeps new seeds short enough to be typed.
const mostNew = 1_000_000

// ParseSeeds reads "17", "1..20" or "new". A single number stands for this seed only. But if only a time limit ends the
// campaign (endless), it stands for this seed and all following ones.
func ParseSeeds(text string, endless bool) (Seeds, error) {
	if text == New {
		text = strconv.Itoa(1 + rand.IntN(mostNew)) //nolint:gosec // not a secret
	}
	from, to, isRange := strings.Cut(text, "..")
	first, err := strconv.ParseUint(from, 10, 64)
	if err != nil {
		return Seeds{}, seedsError(text)
	}
	seeds := Seeds{First: first, Last: first}
	switch {
	case isRange:
		if seeds.Last, err = strconv.ParseUint(to, 10, 64); err != nil || seeds.Last < first {
			return Seeds{}, seedsError(text)
		}
	case endless:
		seeds.Last = math.MaxUint64 - 1
	}
	return seeds, nil
}

func seedsError(text string) error {
	return fmt.Errorf("seeds %q: use a number such as 17, "+
		"a range whose last number is not below the first, such as 1..20, or %s", text, New)
}

// Count returns the number of seeds. For an endless range, it is the largest int.
func (s Seeds) Count() int { return int(min(s.Last-s.First, math.MaxInt-1)) + 1 }

// String is "17", "1..20" or "17 and following".
func (s Seeds) String() string {
	switch s.Last {
	case s.First:
		return strconv.FormatUint(s.First, 10)
	case math.MaxUint64 - 1:
		return strconv.FormatUint(s.First, 10) + " and following"
	}
	return fmt.Sprintf("%d..%d", s.First, s.Last)
}

// Plans returns the plan of each seed.
func (s Seeds) Plans(all []actions.Action) iter.Seq[plan.Plan] {
	return func(yield func(plan.Plan) bool) {
		for seed := s.First; seed <= s.Last; seed++ {
			p, err := Plan(seed, all)
			if err != nil {
				panic(err) // A programming error: the arguments of an action cannot be encoded.
			}
			if !yield(p) {
				return
			}
		}
	}
}

// Feed sends plans to the channel until there are no more, or the time is over. It does not interrupt a plan that has
// begun. 0 minutes mean no limit.
func Feed(ctx context.Context, plans iter.Seq[plan.Plan], minutes float64) <-chan plan.Plan {
	next, stop := make(chan plan.Plan), context.CancelFunc(func() {})
	if minutes > 0 {
		ctx, stop = context.WithTimeout(ctx, time.Duration(minutes*float64(time.Minute)))
	}
	go func() {
		defer stop()
		defer close(next)
		for p := range plans {
			select {
			case next <- p:
			case <-ctx.Done():
			}
			if ctx.Err() != nil {
				return
			}
		}
	}()
	return next
}
