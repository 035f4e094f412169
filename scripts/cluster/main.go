// Cluster runs a whole Kubernetes cluster on this machine, without Docker.
package main

import (
	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example-inc/memcached-operator/scripts/cli"
	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
	"github.com/example-inc/memcached-operator/scripts/cluster/supervisor"
)

func main() {
	log.SetLogger(logr.Discard()) // without one, a client of the API server prints a stack after half a minute
	cli.Main(newCommand())
}

func newCommand() *cobra.Command {
	f := &flags{}
	root := &cobra.Command{
		Use:   "cluster",
		Short: "Run a whole Kubernetes cluster on this machine, without Docker",
		Long: "Runs a control plane, a Node, DNS, an image registry, a Git repository and Argo CD on one Linux\n" +
			"machine, built from pinned Go modules. Nothing of it can reach beyond the machine, and the\n" +
			"command down removes all of it. With simulated Nodes it is a control plane alone, on any machine\n" +
			"and without root, and nothing runs in its Pods. See docs/local-cluster.md.",
	}
	root.PersistentFlags().StringVar(&f.name, "name", "demo", "name of the cluster; several may run at the same time")
	root.AddCommand(f.upCommand(), f.downCommand(), f.statusCommand(), f.envCommand(),
		buildCommand(), assetsCommand(), needsCommand(), superviseCommand())
	return root
}

// superviseCommand is what `up` starts.
func superviseCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "supervise DIR",
		Short:  "Be the first process of a cluster",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return supervisor.Run(cmd.Context(), rundir.Dir(args[0]))
		},
	}
}
