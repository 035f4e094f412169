package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cluster/simulated"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// nothingRuns is said wherever a simulated cluster is shown.
const nothingRuns = "nothing runs in them: kwok only says that they are ready"

// addSimulated lets commands serve clusters of simulated nodes as well. The names are shared: `down`, `status` and
// `env` find either kind.
func (f *flags) addSimulated(up, down, status, env *cobra.Command) {
	f.addSimulatedUp(up)
	instead(down, func(cmd *cobra.Command) (bool, error) {
		found, err := simulated.Down(cmd.Context(), f.name)
		if found && err == nil {
			progress.Note(cmd.Context(), "Simulated cluster %q is stopped.", f.name)
		}
		return found, err
	})
	instead(status, func(cmd *cobra.Command) (bool, error) {
		cluster, err := simulated.Find(f.name)
		if err != nil {
			return false, nil //nolint:nilerr // there may be one of the other kind
		}
		return true, f.printSimulated(cmd.OutOrStdout(), cluster)
	})
	instead(env, func(cmd *cobra.Command) (bool, error) {
		cluster, err := simulated.Find(f.name)
		if err != nil {
			return false, nil //nolint:nilerr // there may be one of the other kind
		}
		fmt.Fprintf(cmd.OutOrStdout(), "KUBECONFIG=%s\nKUBECTL=%s\nLOGS=%s\n",
			cluster.Kubeconfig, cluster.Kubectl, cluster.Logs)
		return true, nil
	})
}

func (f *flags) addSimulatedUp(up *cobra.Command) {
	var nodes string
	var architectures []string
	up.Flags().StringVar(&nodes, "nodes", "real", "real, or simulated: no root, any system, and nothing runs in Pods")
	up.Flags().StringSliceVar(&architectures, "architectures", []string{"amd64", "arm64", "ppc64le", "s390x"},
		"with simulated nodes: a node for each entry")
	up.Example += "\n  go run ./scripts/cluster up --nodes simulated --architectures amd64,amd64,s390x"
	instead(up, func(cmd *cobra.Command) (bool, error) {
		switch nodes {
		case "real":
			return false, nil
		case "simulated":
			return true, f.upSimulated(cmd, architectures)
		}
		return true, fmt.Errorf("--nodes %q: want real or simulated", nodes)
	})
}

func (f *flags) upSimulated(cmd *cobra.Command, architectures []string) error {
	cluster, err := simulated.Up(cmd.Context(), simulated.Options{Name: f.name, Architectures: architectures})
	if err != nil {
		return err
	}
	if !cluster.Created {
		progress.Note(cmd.Context(), "Simulated cluster %q runs already.", cluster.Name)
	}
	return f.printSimulated(cmd.OutOrStdout(), cluster)
}

// instead has a command do something else where that applies.
func instead(cmd *cobra.Command, do func(*cobra.Command) (bool, error)) {
	otherwise := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if done, err := do(cmd); done || err != nil {
			return err
		}
		return otherwise(cmd, args)
	}
}

func (f *flags) printSimulated(out io.Writer, cluster *simulated.Cluster) error {
	if f.output == "json" {
		return printJSON(out, struct {
			Running   bool   `json:"running"`
			Simulated bool   `json:"simulated"`
			Pods      string `json:"pods"`
			*simulated.Cluster
		}{true, true, nothingRuns, cluster})
	}
	rows := [][2]string{
		{"cluster", fmt.Sprintf("%s, Kubernetes %s, simulated nodes", cluster.Name, cluster.Kubernetes)},
		{"pods", nothingRuns},
		{"running", fmt.Sprintf("since %s, process %d", cluster.Started.Format(time.DateTime), cluster.Pid)},
		{"kubeconfig", cluster.Kubeconfig},
		{"logs", cluster.Logs},
		{"kubectl", cluster.Kubectl},
	}
	for _, process := range cluster.Processes {
		rows = append(rows, [2]string{process.Name, fmt.Sprintf("process %d", process.Pid)})
	}
	return printTable(out, rows)
}
