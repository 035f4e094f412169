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

// Seeds are consecutive seeds.
type Seeds struct{ First, Last uint64 }

// New stands for a seed that nobody has chosen.
const New = "new"

// mostNew keeps new seeds short enough to be typed.
const mostNew = 1_000_000

// ParseSeeds reads "17", "1..20" or "new". A single seed stands for itself and, if time is all that ends the campaign,
// for all after it.
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
	return fmt.Errorf("seeds %q: use a number (17), a range whose second number is not smaller (1..20), or %s", text, New)
}

// Count returns how many they are; endless ones are as many as fit.
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
				panic(err) // The arguments of an action cannot be encoded: a programming error.
			}
			if !yield(p) {
				return
			}
		}
	}
}

// Feed hands out plans until there are no more, or the time is over. A plan that has begun is not cut short. 0 minutes
// are no limit.
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
