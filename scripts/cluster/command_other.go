//go:build !linux

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
)

// errNoLinux answers for clusters of real nodes, which are made of what Linux alone has: namespaces and control groups.
var errNoLinux = errors.New("a cluster with real nodes needs Linux: `up --nodes simulated` makes one without them")

func buildCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "build",
		Short:   "Build all programs of a cluster of simulated nodes into the cache",
		Example: "  go run ./scripts/cluster build",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			binaries, err := builds.Ensure(cmd.Context(), builds.Simulated()...)
			if err != nil {
				return err
			}
			for _, binary := range builds.Simulated() {
				fmt.Fprintln(cmd.OutOrStdout(), binaries.Path(binary))
			}
			return nil
		},
	}
}

func upCommand(f *flags) *cobra.Command {
	return f.needsLinux("up", "Bring a cluster of simulated nodes up", errNoLinux)
}

func downCommand(f *flags) *cobra.Command {
	return f.needsLinux("down", "Stop the cluster and remove all that is left of it", nil)
}

func statusCommand(f *flags) *cobra.Command {
	return f.needsLinux("status", "Tell whether the cluster runs, and which processes its parts are",
		errors.New("not running"))
}

func envCommand(f *flags) *cobra.Command {
	return f.needsLinux("env", "Print the cluster's addresses as environment variables", errors.New("not running"))
}

// needsLinux is a command that serves clusters of simulated nodes alone, and else answers with an error.
func (f *flags) needsLinux(name, short string, otherwise error) *cobra.Command {
	cmd := &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		Example: "  go run ./scripts/cluster " + name,
		RunE:    func(*cobra.Command, []string) error { return otherwise },
	}
	f.addOutput(cmd)
	return cmd
}
