package rows

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/example-inc/memcached-operator/test/bench/lab"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

const (
	// nodes is the size of every Memcached.
	nodes = 3

	// patience is how long something may take.
	patience = 10 * time.Minute
)

// creation compares the operator with the floor, at one number of writes in flight.
type creation struct {
	*Bench
	lab      *lab.Lab
	template string
	inFlight int
	profiles string // folder; a run that is profiled does not count

	ratios, operator, floor []float64 // ratios, and seconds
	requests, failed        int
	events                  int
}

// create measures how long it takes from the start of the operator until all objects of new Memcacheds are there and
// their status is written. Nothing else writes: there are no other controllers.
func create(ctx context.Context, b *Bench, update func(string)) (figures []report.Figure, err error) {
	l, err := b.bare(ctx, "create")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	template := filepath.Join(b.Dir, "template.json")
	if err := l.Template(ctx, nodes, template); err != nil {
		return nil, err
	}
	var last *creation
	for _, inFlight := range b.InFlight {
		last = &creation{Bench: b, lab: l, template: template, inFlight: inFlight}
		for run := range b.Runs {
			update(fmt.Sprintf("%d in flight, run %d of %d", inFlight, run+1, b.Runs))
			if err := last.compare(ctx); err != nil {
				return figures, err
			}
		}
		figures = append(figures, last.figure())
	}
	if b.Profiles != "" {
		update("profiles")
		profiled := *last
		profiled.profiles = b.Profiles
		if _, err := profiled.measure(ctx, profiled.runOperator); err != nil {
			return figures, err
		}
	}
	return append(figures, last.requestFigures()...), nil
}

// compare measures the operator and the floor in turn.
func (c *creation) compare(ctx context.Context) error {
	operator, err := c.measure(ctx, c.runOperator)
	if err != nil {
		return err
	}
	floor, err := c.measure(ctx, c.runFloor)
	if err != nil {
		return err
	}
	c.operator, c.floor = append(c.operator, operator.Seconds()), append(c.floor, floor.Seconds())
	c.ratios = append(c.ratios, operator.Seconds()/floor.Seconds())
	return nil
}

// measure makes Memcacheds and lets somebody work on them. It returns the time from the start of that process to the
// answer to the last first status.
func (c *creation) measure(
	ctx context.Context, work func(context.Context, lab.Mark) (time.Time, error),
) (time.Duration, error) {
	if err := c.lab.MakeMemcacheds(ctx, 0, c.Count, nodes, func(string) {}); err != nil {
		return 0, err
	}
	mark, err := c.lab.Audit.Now()
	if err != nil {
		return 0, err
	}
	started, err := work(ctx, mark)
	if err != nil {
		return 0, err
	}
	requests, err := c.lab.Audit.Since(mark)
	if err != nil {
		return 0, err
	}
	return c.lastStatus(requests).Sub(started), c.lab.Empty(ctx)
}

// lastStatus is when the last Memcached got its first status.
func (c *creation) lastStatus(requests []lab.Request) (last time.Time) {
	done := newStatuses()
	for _, request := range requests {
		if done.note(request) {
			last = request.Answered
		}
	}
	return last
}

func (c *creation) runOperator(ctx context.Context, mark lab.Mark) (time.Time, error) {
	operator, err := c.lab.StartOperator(ctx, fmt.Sprintf("--max-concurrent-reconciles=%d", c.inFlight))
	if err != nil {
		return time.Time{}, err
	}
	profiled := profileCPU(ctx, operator, c.profiles, fmt.Sprintf("cpu-create-%d.pprof", c.Count))
	done := newStatuses()
	err = c.lab.Audit.Await(ctx, mark, patience, func(request lab.Request) bool {
		return done.note(request) && len(done) == c.Count
	})
	if err != nil {
		return time.Time{}, errors.Join(fmt.Errorf("%d of %d Memcacheds got a status: %w", len(done), c.Count, err),
			operator.Stop())
	}
	err = operator.Settle(ctx, patience) // What comes after that counts as a request, too.
	if err := errors.Join(err, <-profiled, operator.Stop()); err != nil {
		return time.Time{}, err
	}
	return operator.Started, c.count(mark)
}

// count adds up the operator's requests, but for the first lists, and its events.
func (c *creation) count(mark lab.Mark) error {
	all, err := c.lab.Audit.Since(mark)
	if err != nil {
		return err
	}
	for _, request := range all {
		if request.ByOperator() && request.Object.Resource == "events" {
			c.events++
		}
	}
	requests, err := askedSince(c.lab, mark)
	for _, request := range requests.withoutLists() {
		c.requests++
		if request.Response.Code >= 400 {
			c.failed++
		}
	}
	return err
}

func (c *creation) runFloor(ctx context.Context, _ lab.Mark) (time.Time, error) {
	return c.lab.RunFloor(ctx, "create", "--template", c.template, fmt.Sprintf("--in-flight=%d", c.inFlight))
}

func (c *creation) figure() report.Figure {
	name := fmt.Sprintf("%d new Memcacheds, %d in flight: time against the floor", c.Count, c.inFlight)
	return report.Judge(name, report.Median(c.ratios), report.AtMost(1.5, "times"),
		fmt.Sprintf("%s s against %s s", report.Number(report.Median(c.operator)), report.Number(report.Median(c.floor))))
}

func (c *creation) requestFigures() []report.Figure {
	each := float64(c.requests) / float64(c.Count*c.Runs)
	return []report.Figure{
		report.Judge("requests a new Memcached, events apart", each, report.AtMost(float64(len(lab.Children)+2), ""),
			fmt.Sprintf("%d children", len(lab.Children))),
		report.Tell("events a new Memcached", float64(c.events)/float64(c.Count*c.Runs), ""),
		report.Judge("refused or repeated requests among them", float64(c.failed), report.AtMost(0, "")),
	}
}

// statuses are the Memcacheds that have got a status.
type statuses map[string]bool

func newStatuses() statuses { return statuses{} }

// note tells whether a request wrote the first status of a Memcached.
func (s statuses) note(request lab.Request) bool {
	name := request.Object.Name
	if !request.ByOperator() || request.Kind() != "memcacheds/status" || request.Response.Code >= 300 || s[name] {
		return false
	}
	s[name] = true
	return true
}
