package commands

// The command hot-keys.

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/hot"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/screen"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/traffic"
)

// watchOptions are the options of commands that read the log of requests.
type watchOptions struct {
	reachOptions

	limits traffic.Limits
	output output
}

func (o *watchOptions) addFlags(command *cobra.Command, duration time.Duration, lines int) {
	flags := command.Flags()
	flags.DurationVar(&o.limits.For, "for", duration, "How long to read the log of requests.")
	flags.IntVar(&o.limits.Lines, "lines", lines, "How many lines of each server's log to read at most.")
	o.output.addFlag(command)
	o.reachOptions.addFlags(command)
}

func (o *watchOptions) check() error {
	const longest = time.Hour
	switch {
	case o.limits.For <= 0 || o.limits.For > longest:
		return fmt.Errorf("--for %s is out of range: write a time up to %s", o.limits.For, longest)
	case o.limits.Lines <= 0:
		return fmt.Errorf("--lines %d reads nothing: write a number above 0", o.limits.Lines)
	}
	return nil
}

// warn prints what reading the log costs the servers.
func (p *plugin) warn(r *reached, o watchOptions) {
	fmt.Fprintln(p.ErrOut, p.screen.Reflow(fmt.Sprintf("Reading the log of %d servers for %s: each of them spends CPU "+
		"time on a line for each request, and\nskips lines rather than have clients wait.", len(r.servers), o.limits.For)))
}

type hotKeysOptions struct {
	watchOptions

	most int
}

func newHotKeys(p *plugin) *cobra.Command {
	const duration, lines, most = 5 * time.Second, 200000, 10
	options := &hotKeysOptions{}
	command := &cobra.Command{
		Use:   "hot-keys NAME",
		Short: "Show the keys that clients read most",
		Long: "Shows the keys that clients read most, and never values. It reads the log of memcached (watch fetchers " +
			"mutations) for\nsome seconds, up to a number of lines. That costs each server CPU time for each request; " +
			"memcached skips lines rather\nthan have clients wait.",
		Example: "  kubectl memcached hot-keys sessions -n team\n" +
			"  kubectl memcached hot-keys sessions --for=2s --top=50",
		Args:              oneName,
		ValidArgsFunction: p.name,
		RunE: func(command *cobra.Command, names []string) error {
			if err := options.check(); err != nil {
				return err
			}
			if options.most <= 0 {
				return fmt.Errorf("--top %d shows nothing: write a number above 0", options.most)
			}
			return p.hotKeys(command.Context(), names[0], *options)
		},
	}
	command.Flags().IntVar(&options.most, "top", most, "How many keys to show.")
	options.addFlags(command, duration, lines)
	return command
}

// hotKeys shows the keys that are read most.
func (p *plugin) hotKeys(ctx context.Context, name string, options hotKeysOptions) error {
	r, err := p.reach(ctx, name, options.reachOptions)
	if err != nil {
		return err
	}
	defer r.Close()
	p.warn(r, options.watchOptions)
	type counted struct {
		traffic.Seen
		hot.Counter
	}
	answers := reach.All(ctx, r.Cache, r.servers, options.limits.For,
		func(ctx context.Context, connection *reach.Connection) (c *counted, err error) {
			c = &counted{}
			c.Seen, err = traffic.Watch(options.limits, c.Count)(ctx, connection)
			return c, err
		})
	if err := failed(answers); err != nil {
		return err
	}
	keys := []hot.Key{}
	seen := traffic.Seen{}
	for _, answer := range answers {
		if answer.Err == nil {
			keys = append(keys, answer.Value.Keys(answer.Server, answer.Value.Took, options.most)...)
			seen.Lines, seen.Skipped = seen.Lines+answer.Value.Lines, seen.Skipped+answer.Value.Skipped
			seen.Ended = cmp.Or(seen.Ended, answer.Value.Ended)
		}
	}
	keys = hot.Most(keys, options.most)
	return p.print(options.output, "HotKeyList", map[string]any{"items": keys, "log": seen}, func() error {
		if err := p.screen.HotKeys(keys); err != nil {
			return err
		}
		screen.Unreached(p.screen, answers)
		for _, answer := range answers {
			if answer.Err == nil {
				p.screen.Ended(answer.Server, answer.Value.Seen)
			}
		}
		fmt.Fprintf(p.Out, "\n%d lines of the log were read, and %d skipped by memcached.\n", seen.Lines, seen.Skipped)
		return nil
	})
}
