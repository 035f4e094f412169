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
	log.SetLogger(logr.Discard()) // without a logger, controller-runtime prints a stack trace after half a minute
	cli.Main(newCommand())
}

func newCommand() *cobra.Command {
	f := &flags{}
	root := &cobra.Command{
		Use:   "cluster",
		Short: "Run a whole Kubernetes cluster on this machine, without Docker",
		Long: "Runs a control plane, a Node, DNS, an image registry, a Git repository and Argo CD on one Linux\n" +
			"machine, built from pinned Go modules. The cluster can't connect to anything outside of the machine,\nand the " +
			"command down removes all of it. A cluster with simulated Nodes is only a control plane. It runs on\nany " +
			"machine and without root, and nothing runs in its Pods. See docs/local-cluster.md.",
	}
	root.PersistentFlags().StringVar(&f.name, "name", "demo", "name of the cluster; several may run at the same time")
	root.AddCommand(f.upCommand(), f.downCommand(), f.statusCommand(), f.envCommand(),
		buildCommand(), assetsCommand(), needsCommand(), superviseCommand())
	return root
}

// superviseCommand returns the command that `up` starts.
func superviseCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "supervise DIR",
		Short:  "Run as the first process of a cluster (started by up)",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return supervisor.Run(cmd.Context(), rundir.Dir(args[0]))
		},
	}
}
