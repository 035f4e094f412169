package commands

// The command estimate.

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/estimate"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/load"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/screen"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/traffic"
)

// memories are the multiples of the current memory for which hit ratios are predicted.
var memories = []float64{0.5, 1, 2}

func newEstimate(p *plugin) *cobra.Command {
	const duration, lines = 30 * time.Second, 5000000
	options := &watchOptions{}
	command := &cobra.Command{
		Use:   "estimate NAME",
		Short: "Predict the hit ratio with half and with twice the memory",
		Long: "Predicts the hit ratio of each server with half and with twice the memory, from the requests during --for. " +
			"It reads the\nlog of memcached, which costs each server CPU time for each request; " +
			"memcached skips lines rather than have clients\nwait. " +
			"The prediction is computed on this computer, from a sample of the keys. " +
			"A ratio with ~ is less certain, because\nclients used too few keys in that time: raise --for.",
		Example:           "  kubectl memcached estimate sessions -n team\n  kubectl memcached estimate sessions --for=5m",
		Args:              oneName,
		ValidArgsFunction: p.name,
		RunE: func(command *cobra.Command, names []string) error {
			if err := options.check(); err != nil {
				return err
			}
			return p.estimate(command.Context(), names[0], *options)
		},
	}
	options.addFlags(command, duration, lines)
	return command
}

// estimate shows the hit ratios with other amounts of memory.
func (p *plugin) estimate(ctx context.Context, name string, options watchOptions) error {
	r, err := p.reach(ctx, name, options.reachOptions)
	if err != nil {
		return err
	}
	defer r.Close()
	p.warn(r, options)
	answers := reach.All(ctx, r.Cache, r.servers, options.limits.For, sample(options.limits))
	if err := failed(answers); err != nil {
		return err
	}
	// Connections that watch the log answer nothing else, so they are closed first. An interrupt ends only the reading
	// of the log.
	r.Close()
	after := reach.All(context.WithoutCancel(ctx), r.Cache, r.servers, 0, load.Take)
	var estimates []screen.Estimate
	for i, answer := range answers {
		e := screen.Estimate{Server: answer.Server, Error: screen.Text(answer.Err)}
		if answer.Err == nil {
			e.Estimate = answer.Value.estimate(after[i])
		}
		estimates = append(estimates, e)
	}
	return p.print(options.output, "MemoryEstimate", items(estimates), func() error {
		return p.screen.Estimates(estimates, memories)
	})
}

// sampled has the observed requests of a server, and its statistics from before these requests.
type sampled struct {
	traffic.Seen

	before  load.Sample
	sampler *estimate.Sampler
}

func sample(limits traffic.Limits) func(context.Context, *reach.Connection) (*sampled, error) {
	return func(ctx context.Context, connection *reach.Connection) (*sampled, error) {
		before, err := load.Take(ctx, connection)
		if err != nil {
			return nil, err
		}
		s := &sampled{before: before, sampler: estimate.NewSampler(load.Of(nil, before).Items)}
		if s.Seen, err = traffic.Watch(limits, s.sampler.Use)(ctx, connection); err != nil {
			return nil, fmt.Errorf("read the log: %w", err)
		}
		return s, nil
	}
}

// estimate predicts hit ratios from the observed requests, and from the statistics after them. If the Pod does not run
// any more, estimate uses the statistics from before the requests. In that case, the server counts as evicting if it
// has ever evicted an item.
func (s *sampled) estimate(after reach.Answer[load.Sample]) screen.Prediction {
	var l load.Load
	server := estimate.Server{}
	if after.Err == nil {
		l = load.Of(&s.before, after.Value)
		server.Evicting = l.Evictions != nil && *l.Evictions > 0
	} else {
		l = load.Of(nil, s.before)
		server.Evicting = l.EvictedAge != nil
		s.Ended = cmp.Or(s.Ended, after.Err.Error())
	}
	server.Items, server.Used, server.Limit = l.Items, l.Used, l.Limit
	p := screen.Prediction{Predictions: s.sampler.Predict(server, memories...), Seen: s.Seen, Full: server.Evicting}
	p.Reads, p.Requested = s.sampler.Reads(), l.Gets()
	return p
}
