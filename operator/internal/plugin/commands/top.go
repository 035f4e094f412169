package commands

// The command top.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/load"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/screen"
)

type topOptions struct {
	reachOptions

	watch    bool
	interval time.Duration
	output   output
}

func newTop(p *plugin) *cobra.Command {
	options := &topOptions{}
	command := &cobra.Command{
		Use:   "top NAME",
		Short: "Show memory, hit ratio, requests and evictions of each server",
		Long: "Shows a row for each server of a cache: its memory, the hit ratio in an interval and since its start, " +
			"requests and\nevictions per second, for how long the items that are evicted had not been used, and connections. " +
			"It reads the\nstatistics of each server twice, or with --watch once in each interval.",
		Example:           "  kubectl memcached top sessions -n team\n  kubectl memcached top sessions --watch --interval=5s",
		Args:              oneName,
		ValidArgsFunction: p.name,
		RunE: func(command *cobra.Command, names []string) error {
			if err := options.check(); err != nil {
				return err
			}
			return p.top(command.Context(), names[0], *options)
		},
	}
	flags := command.Flags()
	flags.BoolVarP(&options.watch, "watch", "w", false, "Show the load again after each interval, until interrupted.")
	flags.DurationVar(&options.interval, "interval", time.Second, "Time between two samples, 1s or more.")
	options.output.addFlag(command)
	options.addFlags(command)
	return command
}

func (o *topOptions) check() error {
	switch {
	case o.interval < time.Second:
		return fmt.Errorf("--interval %s is too short: write 1s or more", o.interval)
	case o.watch && o.output.format != "":
		return errors.New("--watch and --output exclude each other: leave one of the two out")
	}
	return nil
}

// top shows the load of a cache.
func (p *plugin) top(ctx context.Context, name string, options topOptions) error {
	r, err := p.reach(ctx, name, options.reachOptions)
	if err != nil {
		return err
	}
	defer r.Close()
	before := map[string]load.Sample{} // by Pod
	if _, err := r.loads(ctx, before); err != nil {
		return err
	}
	for {
		select {
		case <-time.After(options.interval):
		case <-ctx.Done():
			return nil // The user has interrupted the command.
		}
		loads, err := r.loads(ctx, before)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !options.watch:
			return err
		case options.watch:
			p.screen.Clear()
		}
		err = p.print(options.output, "CacheLoad", items(loads), func() error { return p.screen.Loads(loads) })
		if err != nil || !options.watch {
			return err
		}
		if err := r.refresh(ctx); mustEnd(err) {
			return err
		} else if err != nil {
			fmt.Fprintf(p.ErrOut, "\nThe list of Pods could not be read, "+
				"so the previous list is used until the next interval: %v\n", err)
		}
	}
}

// mustEnd reports whether the command has to end, because the cache does not exist any more or the user may not read
// it. After other errors, such as during a restart of the API server, the command may succeed in the next interval.
func mustEnd(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}

// loads takes samples, and computes the loads since the previous samples.
func (r *reached) loads(ctx context.Context, before map[string]load.Sample) ([]screen.Load, error) {
	answers := reach.All(ctx, r.Cache, r.servers, 0, load.Take)
	var loads []screen.Load
	for _, answer := range answers {
		l := screen.Load{Server: answer.Server, Error: screen.Text(answer.Err)}
		if answer.Err == nil {
			var last *load.Sample
			if sample, ok := before[answer.Pod]; ok {
				last = &sample
			}
			l.Load = load.Of(last, answer.Value)
			before[answer.Pod] = answer.Value
		}
		loads = append(loads, l)
	}
	return loads, failed(answers)
}
