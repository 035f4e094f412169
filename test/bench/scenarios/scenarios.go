// Package scenarios makes the measurements of the bench. It has a function for each group of figures.
package scenarios

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/internal/testing/install"
	"github.com/example-inc/memcached-operator/internal/testing/monitor"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/test/bench/environment"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// timeout is how long a step may take.
const timeout = 10 * time.Minute

// Bench has the folders that scenarios need, and the settings of how much they measure. See Defaults.
type Bench struct {
	environment.Folders

	Runs      int           // of measurements that are compared; the median counts
	Count     int           // Memcacheds that are created at a time
	InFlight  []int         // writes in flight; the last number is the operator's default
	Drifts    int           // managed objects that are deleted or changed
	Sizes     []int         // Memcacheds in a growing cluster
	Large     []int         // the same for the scenario large
	Changes   int           // number of changes to specs
	Rest      time.Duration // how long requests are counted while nothing changes
	Resync    time.Duration // the operator's --sync-period; longer than it needs to catch up after a start
	BenchTime string        // of Go's benchmarks
	Profiles  string        // folder for profiles; none are written if it is empty
	Copied    []int         // sizes of memcacheds that are copied, in MiB
	Keys      int           // in a cache whose Pods are replaced, added and removed
	MovedKeys int           // keys moved in from other servers, with values of 1,000 bytes
	SavedKeys int           // in a cache that is saved and restored
	Pictures  string        // folder of the page, for pictures of what clients see; none are drawn if it is empty

	update func(string) // shows the progress to the user
}

// Defaults are the settings with which the figures of the page were measured.
func Defaults() Bench {
	return Bench{
		Runs: 3, Count: 1000, InFlight: []int{1, 10}, Drifts: 100, Sizes: []int{10, 500, 1000},
		Large: []int{10, 500, 1000, 5000, 10000}, Changes: 50, Rest: time.Minute, Resync: 30 * time.Second, BenchTime: "1s",
		Copied: []int{1024, 4096}, Keys: 100000, MovedKeys: 2100000, SavedKeys: 10000000,
	}
}

// Scenario is a group of figures that are measured together.
type Scenario struct {
	Name, title string
	picture     string // what the picture shows; empty if the scenario has none

	measure func(*Bench, context.Context) ([]report.Figure, error)
}

// All are the scenarios, in the order of the page.
var All = []Scenario{
	{"create", "New Memcacheds", "", (*Bench).create},
	{"drift", "Changes by other clients", "", (*Bench).drift},
	{"growth", "A growing cluster", "", (*Bench).growth},
	{"large", "10,000 Memcacheds", "", (*Bench).large},
	{"autoscale", "Caches whose use is observed", "", (*Bench).autoscale},
	{"pure", "Comparison and rendering", "", (*Bench).pure},
	{"images", "Size of the images", "", (*Bench).images},
	{"handoff", "Rollouts that keep the keys", "Hits and p99 during a rollout", (*Bench).handoff},
	{"copy", "Copies of large memcacheds", "", (*Bench).copied},
	{"resize", "Memory without a restart", "Hits and p99 while running Pods get other memory", (*Bench).resize},
	{"scale", "Scaling that keeps the keys", "", (*Bench).scale},
	{"movein", "Moving in", "", (*Bench).movein},
	{"snapshot", "Saving and restoring", "", (*Bench).snapshot},
}

// realPods are the scenarios that run Pods, for which their cluster needs root.
var realPods = []string{"handoff", "resize", "scale"}

// long are the scenarios that take longer than all others together. They are measured only if they are named.
var long = []string{"large"}

// Picture is the Markdown of the scenario's picture in the page. It is empty if the scenario has no picture.
func (s Scenario) Picture() string {
	if s.picture == "" {
		return ""
	}
	return "![" + s.picture + "](" + pictureOf(s.Name) + ")"
}

// pictureOf is the path of a scenario's picture, relative to the folder of the page.
func pictureOf(scenario string) string { return "images/" + scenario + "-bench.svg" }

// draw writes the picture of a scenario, unless Pictures is empty.
func (b *Bench) draw(scenario, svg string) error {
	if b.Pictures == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(b.Pictures, pictureOf(scenario)), []byte(svg), 0o644)
}

// Names returns the names of all scenarios.
func Names() []string {
	var names []string
	for _, scenario := range All {
		names = append(names, scenario.Name)
	}
	return names
}

// Choose returns the scenarios with these names. Without names, it returns all scenarios that the user can run, except
// those that take long.
func Choose(names []string, isRoot bool) ([]Scenario, error) {
	if len(names) == 0 {
		return slices.DeleteFunc(slices.Clone(All), func(s Scenario) bool {
			return slices.Contains(long, s.Name) || slices.Contains(realPods, s.Name) && !isRoot
		}), nil
	}
	var chosen []Scenario
	for _, name := range names {
		i := slices.Index(Names(), name)
		switch {
		case i < 0:
			return nil, fmt.Errorf("--only %s: unknown scenario; use %s", name, strings.Join(Names(), ", "))
		case slices.Contains(realPods, name) && !isRoot:
			return nil, fmt.Errorf("--only %s: it runs Pods, which needs root", name)
		}
		chosen = append(chosen, All[i])
	}
	return chosen, nil
}

// Measure measures a scenario. If the scenario fails, its error becomes a figure.
func (s Scenario) Measure(ctx context.Context, b Bench) (figures []report.Figure) {
	err := progress.Stage(ctx, s.title, func(update func(string)) (err error) {
		// The start of a cluster reports its stages too, but only one progress can be shown at a time.
		ctx := progress.WithOutput(ctx, io.Discard)
		b.update = update
		figures, err = s.measure(&b, ctx)
		return err
	})
	if err != nil {
		progress.Note(ctx, "%v", err)
		figures = append(figures, report.Failed(s.title, err))
	}
	return figures
}

func (b *Bench) updatef(format string, args ...any) { b.update(fmt.Sprintf(format, args...)) }

// folders returns the folders of a scenario's environment.
func (b *Bench) folders(scenario string) (environment.Folders, error) {
	folders := b.Folders
	folders.Run = filepath.Join(b.Run, scenario)
	return folders, os.MkdirAll(folders.Run, 0o755)
}

func (b *Bench) bare(ctx context.Context, scenario string) (*environment.Environment, error) {
	folders, err := b.folders(scenario)
	if err != nil {
		return nil, err
	}
	return environment.Bare(ctx, folders)
}

// profileCPU profiles an operator that was just started, unless Profiles is empty. The channel reports the end of the
// profile.
func (b *Bench) profileCPU(ctx context.Context, operator *environment.Operator, file string) <-chan error {
	done := make(chan error, 1)
	if b.Profiles == "" {
		close(done)
		return done
	}
	go func() {
		err := operator.Await(ctx, time.Minute, func(monitor.Metrics) bool { return true })
		if err == nil {
			err = operator.Profile(ctx, "profile?seconds=5", filepath.Join(b.Profiles, file))
		}
		done <- err
	}()
	return done
}

func byOperator(r audit.Request) bool { return r.User.Username == install.User }

// isBackground returns whether the operator makes a request independently of the Memcacheds' changes: watches, its
// Lease, events, and the requests at its start about its own permissions and the API server's resources.
func isBackground(r audit.Request) bool {
	resource := r.ObjectRef.Resource
	return r.Verb == "watch" || strings.HasPrefix(resource, "selfsubject") ||
		slices.Contains([]string{"leases", "events", ""}, resource)
}

// requestsSince returns the operator's requests after an offset of the audit log. It omits background requests
// (isBackground), and requests with a verb in except.
func requestsSince(e *environment.Environment, offset int64, except ...string) ([]audit.Request, error) {
	requests, _, err := e.Audit.Read(offset)
	return slices.DeleteFunc(requests, func(r audit.Request) bool {
		return !byOperator(r) || isBackground(r) || slices.Contains(except, r.Verb)
	}), err
}

// noRequests is the figure of requests that the operator should not make, with an example if it made one.
func noRequests(name string, requests []audit.Request) report.Figure {
	if len(requests) == 0 {
		return report.AtMost(0, "", name, 0)
	}
	return report.AtMost(0, "", name, float64(len(requests)), "such as "+requests[0].String())
}
