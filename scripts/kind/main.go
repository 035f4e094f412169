// Command kind shows one way of installing the operator on a new cluster of kind, with a real Argo CD and a real OLM
// from their projects' releases. It needs Docker, kubectl and the internet: it is for a forge's runner.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/progress"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	var way string
	command := &cobra.Command{
		Use:   "kind",
		Short: "Install the operator on a new cluster of kind, and wait for a cache",
		Long: "Kind makes a cluster, serves a registry and a Git repository where Docker's network reaches\n" +
			"this machine, and installs the operator by one of its install methods: overlay (make deploy), direct (Argo CD\n" +
			"follows gitops/), or olm (Argo CD installs OLM, and OLM the operator). The cluster stays: kind delete cluster\n" +
			"--name " + clusterName + " deletes it.",
		Example:       "  go run ./scripts/kind --method olm",
		Args:          cobra.NoArgs,
		SilenceErrors: true, SilenceUsage: true,
	}
	command.Flags().StringVar(&way, "method", "overlay", "install method: overlay, direct or olm")
	command.RunE = func(command *cobra.Command, _ []string) error { return install(command.Context(), way) }
	return command
}

// install runs the steps of an install method, one after the other.
func install(ctx context.Context, way string) error {
	if err := validateWay(way); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "kind-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	kubeconfig := dir + "/kubeconfig"
	if err := os.Setenv("KUBECONFIG", kubeconfig); err != nil {
		return err
	}
	if err := run(ctx, createCluster(kubeconfig)); err != nil {
		return err
	}
	address, err := gateway(ctx)
	if err != nil {
		return err
	}
	s, err := serve(address, dir)
	if err != nil {
		return err
	}
	defer s.Close()
	progress.Note(ctx, "Registry %s, Git %s", s.Registry, s.Git)
	all, err := steps(way, s)
	if err != nil {
		return err
	}
	for _, step := range all {
		if err := run(ctx, step); err != nil {
			return err
		}
	}
	return nil
}
