// Package current shows the whole chain on a cluster that is there already, with the user's own registry and Git
// repository. It finds out first what is missing, says what it would do, and asks before it changes anything.
package current

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/demo/check"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// Options are what the demo was told.
type Options struct {
	target.Options
	Yes       bool // do not ask
	CheckOnly bool // end before the question
	JSON      bool // print what the checks found for machines
	Timeout   time.Duration
}

// Console is where questions are asked and answers come from.
type Console struct {
	In       io.Reader
	Out      io.Writer
	Terminal bool // somebody sits there
}

// demo is one run.
type demo struct {
	check.Subject
	options Options
	console Console
	started time.Time

	done      []string // what was changed so far, for people
	published bool     // the branch is pushed
	applied   bool     // something is in the cluster
}

// Run runs the demo.
func Run(ctx context.Context, options Options, console Console) error {
	root, err := builds.Root()
	if err != nil {
		return err
	}
	now, err := values.Read(root)
	if err != nil {
		return err
	}
	if err := options.Complete(now); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	d := &demo{options: options, console: console, started: time.Now()}
	d.Subject = check.Subject{
		Options: options.Options, Root: root,
		Tree: filepath.Join(tmp, "tree"), Clone: filepath.Join(tmp, "clone"),
	}
	if err := target.Replace(root, d.Tree); err != nil {
		return err
	}
	if err := d.check(ctx); err != nil || options.CheckOnly {
		return err
	}
	if err := d.ask(ctx); err != nil {
		return err
	}
	return d.report(ctx, d.install(ctx))
}

// check runs the checks, and tells what they found as they find it.
func (d *demo) check(ctx context.Context) error {
	out := d.console.Out
	tell := func(r check.Result) { printResult(out, r) }
	if d.options.JSON {
		tell = func(check.Result) {}
	} else {
		fmt.Fprintln(out, "What is there:")
	}
	results, err := check.Run(ctx, &d.Subject, check.For(d.Way), tell)
	if err != nil {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	if d.options.JSON {
		if err := printJSON(out, results); err != nil {
			return err
		}
	}
	if n := check.Failures(results); n > 0 {
		return fmt.Errorf("nothing was changed: %d of these checks failed, each with its remedy below it (✗)", n)
	}
	return nil
}

// changed remembers what was done, for the case that it is not done to the end.
func (d *demo) changed(format string, args ...any) {
	d.done = append(d.done, fmt.Sprintf(format, args...))
}

// report tells what was done so far, if it was not done to the end.
func (d *demo) report(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	out := d.console.Out
	if ctx.Err() != nil {
		err = context.Cause(ctx) // rather than what that made of a step
		fmt.Fprintln(out, "\nInterrupted.")
	}
	if len(d.done) == 0 {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	fmt.Fprintln(out, "\nDone so far:")
	for _, line := range d.done {
		fmt.Fprintln(out, "  -", line)
	}
	fmt.Fprintf(out, "\nThe same command goes on where this ended. To remove what is there:\n\n%s\n", d.removal())
	return err
}
