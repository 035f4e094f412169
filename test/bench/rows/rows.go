// Package rows measures: a function for each group of figures.
package rows

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/test/bench/lab"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// Options say how much is measured.
type Options struct {
	Runs     int           // of what is compared; the median counts
	Count    int           // Memcacheds that are made at a time
	InFlight []int         // writes that are under way at a time; the last one is the operator's default
	Damages  int           // children that are deleted or changed
	Sizes    []int         // Memcacheds in a cluster that grows
	Changes  int           // of specs
	Rest     time.Duration // how long nothing happens
	Resync   time.Duration // the operator's --sync-period where that is measured: longer than it takes to catch up
	Pure     string        // -benchtime of the benchmarks
	Profiles string        // folder for profiles; none are written if it is empty
}

// Bench is what rows need.
type Bench struct {
	Options

	// Tree is the repository, and Dir a folder that goes with the run.
	Tree, Dir string
	Programs  lab.Programs
}

// Row is a group of figures that are measured together.
type Row struct {
	Name string
	What string

	measure func(context.Context, *Bench, func(string)) ([]report.Figure, error)
}

// All are the rows, in the order of the table.
var All = []Row{
	{"create", "New Memcacheds", create},
	{"drift", "Foreign changes and damages", drift},
	{"growth", "A cluster that grows", growth},
	{"pure", "Comparison and rendering", pure},
	{"images", "Size of the images", images},
}

// Choose returns the rows of these names; all if none is named.
func Choose(names []string) ([]Row, error) {
	if len(names) == 0 {
		return All, nil
	}
	var chosen []Row
	for _, name := range names {
		i := slices.IndexFunc(All, func(row Row) bool { return row.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("--only %s: there is no such row; the rows are %s", name, strings.Join(Names(), ", "))
		}
		chosen = append(chosen, All[i])
	}
	return chosen, nil
}

// Names are those of all rows.
func Names() []string {
	var names []string
	for _, row := range All {
		names = append(names, row.Name)
	}
	return names
}

// Measure measures a row. What can't be measured here is a figure that says why.
func (r Row) Measure(ctx context.Context, b *Bench) report.Row {
	measured := report.Row{Name: r.Name}
	err := progress.Stage(ctx, r.What, func(update func(string)) (err error) {
		// What starts clusters tells of stages of its own, and one is shown at a time.
		ctx := progress.WithOutput(ctx, io.Discard)
		measured.Figures, err = r.measure(ctx, b, update)
		return err
	})
	if err != nil {
		progress.Note(ctx, "%v", err)
		measured.Figures = append(measured.Figures, report.Failed(r.What, err))
	}
	return measured
}

// newDir makes a folder for one API server.
func (b *Bench) newDir(name string) (string, error) {
	dir := filepath.Join(b.Dir, name)
	return dir, os.MkdirAll(dir, 0o755)
}

// bare starts an API server for a row.
func (b *Bench) bare(ctx context.Context, name string) (*lab.Lab, error) {
	dir, err := b.newDir(name)
	if err != nil {
		return nil, err
	}
	return lab.Bare(ctx, b.Tree, dir, b.Programs)
}

func milliseconds(durations []time.Duration) []float64 {
	values := make([]float64, len(durations))
	for i, duration := range durations {
		values[i] = float64(duration.Microseconds()) / 1000
	}
	return values
}
