package commands

// The command status.

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/overview"
)

type statusOptions struct {
	all    bool
	output output
}

func newStatus(p *plugin) *cobra.Command {
	options := &statusOptions{}
	command := &cobra.Command{
		Use:   "status [NAME]",
		Short: "Show a cache on one screen, or all of them, the worst first",
		Long: "Shows a cache on one screen: whether it is healthy or why not, its slots and Pods, what waits, a rollout in " +
			"progress and\nthe last events. Without NAME it shows all caches of the namespace, the worst first.",
		Example: "  kubectl memcached status sessions -n team\n  kubectl memcached status -A\n" +
			"  kubectl memcached status sessions -o json",
		ValidArgsFunction: p.name,
		RunE: func(command *cobra.Command, names []string) error {
			if len(names) == 0 {
				return p.fleet(command.Context(), *options)
			}
			if err := oneName(command, names); err != nil {
				return err
			}
			if options.all {
				return errors.New("a NAME and --all-namespaces exclude each other: leave one of the two out")
			}
			return p.status(command.Context(), names[0], *options)
		},
	}
	command.Flags().BoolVarP(&options.all, "all-namespaces", "A", false, "Show the caches of all namespaces.")
	options.output.addFlag(command, "wide")
	return command
}

// status shows a cache.
func (p *plugin) status(ctx context.Context, name string, options statusOptions) error {
	cluster, namespace, err := p.connect()
	if err != nil {
		return err
	}
	observed, err := cluster.Observe(ctx, client.ObjectKey{Namespace: namespace, Name: name})
	if err != nil {
		return err
	}
	cache := overview.CacheOf(observed, p.screen.Now)
	return p.print(options.output, "CacheStatus", cache, func() error {
		return p.screen.Cache(cache, options.output.isWide())
	})
}

// fleet shows all caches. It needs only one list request.
func (p *plugin) fleet(ctx context.Context, options statusOptions) error {
	caches, err := p.list(ctx, options.all)
	if err != nil {
		return err
	}
	members := overview.FleetOf(caches)
	return p.print(options.output, "CacheStatusList", items(members), func() error {
		if len(members) == 0 {
			return p.noCaches(options.all)
		}
		return p.screen.Fleet(members, options.all, options.output.isWide())
	})
}

// noCaches prints in which namespace no Memcacheds were found. As in kubectl get, this is no error.
func (p *plugin) noCaches(all bool) error {
	if all {
		fmt.Fprintln(p.ErrOut, "No Memcacheds found.")
		return nil
	}
	_, namespace, err := p.connect()
	fmt.Fprintf(p.ErrOut, "No Memcacheds found in namespace %s: "+
		"choose another namespace by -n, or show all namespaces by -A.\n", namespace)
	return err
}
