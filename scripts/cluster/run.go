package main

import (
	_ "embed" // for the text of a status
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/cluster/supervisor"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// flags are the flags that the commands have in common.
type flags struct {
	name   string
	output string
}

func (f *flags) addOutput(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", "text or json")
}

func (f *flags) upCommand() *cobra.Command {
	var opts local.Options
	var nodes string
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the cluster, unless it runs already",
		Example: "  sudo go run ./scripts/cluster up\n" +
			"  go run ./scripts/cluster up --name e2e --argocd=false -o json\n" +
			"  go run ./scripts/cluster up --nodes simulated --architectures amd64,amd64,s390x",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch nodes {
			case "real":
			case "simulated":
				opts.Simulated, opts.ArgoCD = true, opts.ArgoCD && cmd.Flags().Changed("argocd")
			default:
				return fmt.Errorf("--nodes %q: choose real or simulated", nodes)
			}
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
	cmd.Flags().StringVar(&nodes, "nodes", "real", "real or simulated; a cluster with simulated Nodes needs no root, "+
		"works on any system, and runs nothing in its Pods")
	cmd.Flags().StringSliceVar(&opts.Architectures, "architectures", []string{"amd64", "arm64", "ppc64le", "s390x"},
		"with --nodes simulated: add a Node of this architecture for each entry")
	cmd.Flags().BoolVar(&opts.ArgoCD, "argocd", true, "install Argo CD")
	cmd.Flags().BoolVar(&opts.SecondNode, "second-node", false,
		"add a second real Node, only for Pods that tolerate its taint "+supervisor.SecondNodeTaint)
	cmd.Flags().BoolVar(&opts.NoInstall, "no-install", false, "fail instead of installing missing packages with apt-get")
	f.addOutput(cmd)
	return cmd
}

func (f *flags) downCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "down",
		Short:   "Stop the cluster and remove all its files",
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
				progress.Note(cmd.Context(), "No cluster of this name runs, and nothing is left of one.")
			}
			return err
		},
	}
}

func (f *flags) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Report whether the cluster runs, and its processes",
		Example: "  go run ./scripts/cluster status -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cluster, err := local.Find(f.name)
			out := cmd.OutOrStdout()
			switch {
			case err == nil:
				return f.print(out, cluster)
			case errors.Is(err, local.ErrNotRunning) && f.output == "json":
				return writeJSON(out, map[string]any{"name": f.name, "running": false})
			case errors.Is(err, local.ErrNotRunning):
				_, err = fmt.Fprintln(out, err)
			}
			return err
		},
	}
	f.addOutput(cmd)
	return cmd
}

//go:embed status.tmpl
var statusText string

func (f *flags) print(out io.Writer, cluster *local.Cluster) error {
	parts, err := cluster.Parts()
	if err != nil {
		return err
	}
	status := struct {
		Running bool `json:"running"`
		*local.Cluster
		Processes []local.Part `json:"processes"`
	}{true, cluster, parts}
	switch f.output {
	case "json":
		return writeJSON(out, status)
	case "text":
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		err := template.Must(template.New("status").Parse(statusText)).Execute(table, status)
		return errors.Join(err, table.Flush())
	}
	return fmt.Errorf("--output %q: choose text or json", f.output)
}

func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

func (f *flags) envCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "env",
		Short:   "Print the cluster's addresses as environment variables",
		Example: "  export $(go run ./scripts/cluster env)\n  $KUBECTL get nodes",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cluster, err := local.Find(f.name)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if !cluster.Simulated {
				fmt.Fprintf(out, "REGISTRY=%s\nGIT=%s\n", cluster.Registry, cluster.Git)
			}
			_, err = fmt.Fprintf(out, "KUBECONFIG=%s\nKUBECTL=%s\nLOGS=%s\n",
				cluster.Kubeconfig, cluster.Kubectl, cluster.Logs)
			return err
		},
	}
}
