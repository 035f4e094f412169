package commands

// The commands slabs and sizes.

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/screen"
	"github.com/example-inc/memcached-operator/operator/internal/plugin/slabs"
)

// show prints the slab classes of servers.
type show func([]screen.Slabs, output) error

func newSlabs(p *plugin) *cobra.Command {
	return p.slabs(&cobra.Command{
		Use:   "slabs NAME",
		Short: "Show how each server divides its memory among sizes of items",
		Long: "Shows the slab classes of each server: the size of their chunks, their pages, how many chunks are used and " +
			"how much of\nthese is filled, the age of the item at the end of the LRU, and evictions. It sends two commands " +
			"to each server.",
		Example: "  kubectl memcached slabs sessions -n team",
	}, func(servers []screen.Slabs, o output) error {
		return p.print(o, "CacheSlabs", items(servers), func() error { return p.screen.Slabs(servers) })
	})
}

func newSizes(p *plugin) *cobra.Command {
	return p.slabs(&cobra.Command{
		Use:   "sizes NAME",
		Short: "Show a histogram of the sizes of items",
		Long: "Shows how many items of all servers have which size: key, value and about 50 bytes more. The sizes are " +
			"those of the\nchunks that hold the items, so each step is about 25% above the one before. memcached's own stats " +
			"sizes is not\nused: it needs a restart to be enabled, and memory for each item.",
		Example: "  kubectl memcached sizes sessions -n team",
	}, func(servers []screen.Slabs, o output) error {
		buckets := bucketsOf(servers)
		return p.print(o, "CacheSizes", items(buckets), func() error { return p.screen.Sizes(buckets, servers) })
	})
}

// slabs completes a command that reads slab classes.
func (p *plugin) slabs(command *cobra.Command, show show) *cobra.Command {
	var options reachOptions
	var output output
	options.addFlags(command)
	output.addFlag(command)
	command.Args, command.ValidArgsFunction = oneName, p.name
	command.RunE = func(command *cobra.Command, names []string) error {
		servers, err := p.readSlabs(command.Context(), names[0], options)
		if err != nil {
			return err
		}
		return show(servers, output)
	}
	return command
}

func (p *plugin) readSlabs(ctx context.Context, name string, options reachOptions) ([]screen.Slabs, error) {
	r, err := p.reach(ctx, name, options)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	answers := reach.All(ctx, r.Cache, r.servers, 0, slabs.Take)
	return slabsOf(answers), failed(answers)
}

// slabsOf converts answers to Slabs.
func slabsOf(answers []reach.Answer[[]slabs.Class]) []screen.Slabs {
	servers := []screen.Slabs{}
	for _, answer := range answers {
		classes := append([]slabs.Class{}, answer.Value...) // Programs expect a list, even if it is empty.
		servers = append(servers, screen.Slabs{Server: answer.Server, Classes: classes, Error: screen.Text(answer.Err)})
	}
	return servers
}

// bucketsOf are the sizes of the items of all servers.
func bucketsOf(servers []screen.Slabs) []slabs.Bucket {
	var classes [][]slabs.Class
	for _, server := range servers {
		classes = append(classes, server.Classes)
	}
	return slabs.Sizes(classes)
}
