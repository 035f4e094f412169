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

// EveryWrite makes plans in which a Memcached is changed, and the operator is killed at one of the writes that it then
// makes. There is a plan for each change, each write after it, and each moment of the write. If the operator makes
// fewer writes, a plan does not kill it: then the plans of this change are complete.
type EveryWrite struct {
	mu     sync.Mutex
	series []*series
}

// series has the progress of the plans for one change and one moment of a write.
type series struct {
	change actions.Change
	moment string
	met    int  // the number of writes at which the operator was killed, from the first one on
	over   bool // a plan had no write left at which to kill the operator
}

// mostWrites is more than the number of writes after any change. It ends the plans for an operator that never stops
// writing.
const mostWrites = 60

// NewEveryWrite returns an EveryWrite with the changes whose name matches a pattern. An empty pattern matches all
// names.
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

// Plans returns the plans. A series ends when Add gets the first result in which the operator was not killed.
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

// seed returns the number of a plan, which is also its seed. The steps of these plans are not drawn.
func (e *EveryWrite) seed(write, series int) uint64 {
	return uint64(write*len(e.series) + series) //nolint:gosec // small and positive
}

// Add evaluates the result of a plan.
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

// String returns a table of how many writes the operator was killed at, for each change and moment.
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

// Err returns an error for each series that is incomplete. A series without any write is incomplete, too. Only after a
// deletion, the operator need not write, because the garbage collector deletes the objects.
func (e *EveryWrite) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	for _, s := range e.series {
		switch {
		case !s.over:
			errs = append(errs, fmt.Errorf("%s, %s: the operator had further writes after write %d, "+
				"the last one at which it was killed", s.change.Name, s.moment, s.met))
		case s.met == 0 && s.change.Name != actions.Deletion:
			errs = append(errs, fmt.Errorf("%s, %s: the operator wrote nothing, "+
				"so it was never killed", s.change.Name, s.moment))
		}
	}
	return errors.Join(errs...)
}
