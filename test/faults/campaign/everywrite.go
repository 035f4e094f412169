package campaign

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/example-inc/memcached-operator/test/faults/actions"
	"github.com/example-inc/memcached-operator/test/faults/plan"
)

// EveryWrite kills the operator at each write of some changes to a Memcached, at each moment of the write. Each plan
// has one kill. There are no more writes once a kill meets none.
type EveryWrite struct {
	mu     sync.Mutex
	series []*series
}

// series are the plans of a change and a moment.
type series struct {
	change actions.Change
	moment string
	met    int  // writes, all from the first on
	over   bool // a kill met no write
}

// mostWrites is more than any change has. The plans for an operator that never comes to rest end there.
const mostWrites = 60

// NewEveryWrite begins with the first writes of the changes whose name matches a pattern; all match an empty one.
func NewEveryWrite(pattern string) (*EveryWrite, error) {
	changes, err := matching(actions.Changes(), pattern, func(c actions.Change) string { return c.Name })
	if err != nil {
		return nil, fmt.Errorf("--each %s: %w", pattern, err)
	}
	e := &EveryWrite{}
	for _, change := range changes {
		for _, moment := range actions.Moments {
			e.series = append(e.series, &series{change: change, moment: moment})
		}
	}
	if len(e.series) == 0 {
		return nil, fmt.Errorf("--each %s: no change has this in its name, such as %s", pattern, actions.Changes()[0].Name)
	}
	return e, nil
}

// Plans returns the plans. A series ends at the first result without a kill, which Add gets.
func (e *EveryWrite) Plans() iter.Seq[plan.Plan] {
	return func(yield func(plan.Plan) bool) {
		for write := 1; write <= mostWrites; write++ {
			for i, s := range e.series {
				if e.isOver(s) {
					continue
				}
				p := plan.Plan{Seed: e.seed(write, i), Caches: []string{"a"}, Steps: s.change.KilledAt(write, s.moment)}
				if !yield(p) {
					return
				}
			}
		}
	}
}

func (e *EveryWrite) isOver(s *series) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return s.over
}

// seed numbers the plans. They are not drawn.
func (e *EveryWrite) seed(write, series int) uint64 {
	return uint64(write*len(e.series) + series) //nolint:gosec // small and positive
}

// Add adds the result of a plan.
func (e *EveryWrite) Add(result Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	number := int(result.Seed) //nolint:gosec // see seed
	write, s := number/len(e.series), e.series[number%len(e.series)]
	if result.Effects[actions.KillAtWrite] == 0 {
		s.over = true
		return
	}
	s.met = max(s.met, write)
}

// String lists how many writes were met.
func (e *EveryWrite) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var text strings.Builder
	text.WriteString("Writes at which the operator was killed:\n")
	for _, s := range e.series {
		fmt.Fprintf(&text, "%6d  %s, %s\n", s.met, s.change.Name, s.moment)
	}
	return text.String()
}

// Err returns what is missing. A deletion need not have a write: the garbage collector deletes the objects.
func (e *EveryWrite) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	for _, s := range e.series {
		switch {
		case !s.over:
			errs = append(errs, fmt.Errorf("%s, %s: write %d was not the last", s.change.Name, s.moment, s.met))
		case s.met == 0 && s.change.Name != actions.Deletion:
			errs = append(errs, fmt.Errorf("%s, %s: no kill met a write", s.change.Name, s.moment))
		}
	}
	return errors.Join(errs...)
}
