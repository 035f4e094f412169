//go:build linux

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// addArgoCDVersion adds a flag without a default, so that `up` can tell that no version was asked for.
func addArgoCDVersion(cmd *cobra.Command, version *string) {
	cmd.Flags().StringVar(version, "argocd-version", "", "version of Argo CD, like 3.5 (default: the newest known)")
}

func buildCommand() *cobra.Command {
	var argoCDVersion string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build all programs of the cluster into the cache",
		Example: "  go run ./scripts/cluster build\n" +
			"  go run ./scripts/cluster build --argocd-version 3.5",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			argoCD, err := builds.ArgoCD(argoCDVersion)
			if err != nil {
				return err
			}
			programs := builds.WithArgoCD(argoCD)
			binaries, err := builds.Ensure(cmd.Context(), programs...)
			if err != nil {
				return err
			}
			for _, binary := range programs {
				fmt.Fprintln(cmd.OutOrStdout(), binaries.Path(binary))
			}
			return nil
		},
	}
	addArgoCDVersion(cmd, &argoCDVersion)
	return cmd
}

func upCommand(f *flags) *cobra.Command {
	var opts local.Options
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Bring the cluster up, or find that it runs already",
		Example: "  sudo go run ./scripts/cluster up\n" +
			"  go run ./scripts/cluster up --name e2e --argocd=false -o json\n" +
			"  go run ./scripts/cluster up --name new --argocd-version 3.5",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.Name = f.name
			cluster, err := local.Up(cmd.Context(), opts)
			if err != nil {
				return err
			}
			if !cluster.Created {
				progress.Note(cmd.Context(), "Cluster %q runs already.", cluster.Name)
			}
			return f.print(cmd.OutOrStdout(), cluster)
		},
	}
	cmd.Flags().BoolVar(&opts.ArgoCD, "argocd", true, "with Argo CD")
	addArgoCDVersion(cmd, &opts.ArgoCDVersion)
	cmd.Flags().BoolVar(&opts.NoInstall, "no-install", false, "refuse instead of installing missing packages with apt-get")
	f.addOutput(cmd)
	return cmd
}

func downCommand(f *flags) *cobra.Command {
	return &cobra.Command{
		Use:     "down",
		Short:   "Stop the cluster and remove all that is left of it",
		Example: "  sudo go run ./scripts/cluster down --name e2e",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := false
			title := fmt.Sprintf("Stop cluster %q", f.name)
			err := progress.Stage(cmd.Context(), title, func(func(string)) (err error) {
				found, err = local.Down(cmd.Context(), f.name)
				return err
			})
			if err == nil && !found {
				progress.Note(cmd.Context(), "There was nothing to stop.")
			}
			return err
		},
	}
}

func statusCommand(f *flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Tell whether the cluster runs, and which processes its parts are",
		Example: "  go run ./scripts/cluster status -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cluster, err := local.Find(f.name)
			if errors.Is(err, local.ErrNotRunning) {
				return f.printAbsence(cmd.OutOrStdout(), err)
			}
			if err != nil {
				return err
			}
			parts, err := cluster.Parts()
			if err != nil {
				return err
			}
			return f.print(cmd.OutOrStdout(), cluster, parts...)
		},
	}
	f.addOutput(cmd)
	return cmd
}

func envCommand(f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "env",
		Short: "Print the cluster's addresses as environment variables",
		Example: "  export $(go run ./scripts/cluster env)\n" +
			"  kubectl get nodes",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cluster, err := local.Find(f.name)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), strings.Join([]string{
				"KUBECONFIG=" + cluster.Kubeconfig,
				"REGISTRY=" + cluster.Registry,
				"GIT=" + cluster.Git,
				"KUBECTL=" + cluster.Kubectl,
				"LOGS=" + filepath.Clean(cluster.Logs),
			}, "\n"))
			return err
		},
	}
}
