//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
)

// print shows a cluster, and its parts where those are given.
func (f *flags) print(out io.Writer, cluster *local.Cluster, parts ...local.Part) error {
	if f.output == "json" {
		return printJSON(out, struct {
			Running bool `json:"running"`
			*local.Cluster
			Processes []local.Part `json:"processes,omitempty"`
		}{true, cluster, parts})
	}
	with := ""
	if cluster.ArgoCD {
		with = " with Argo CD " + cluster.ArgoCDVersion
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	rows := [][2]string{
		{"cluster", fmt.Sprintf("%s, Kubernetes %s%s", cluster.Name, cluster.Kubernetes, with)},
		{"running", fmt.Sprintf("since %s, process %d", cluster.Started.Format(time.DateTime), cluster.Pid)},
		{"kubeconfig", cluster.Kubeconfig},
		{"registry", cluster.Registry},
		{"git", cluster.Git},
		{"logs", cluster.Logs},
		{"kubectl", cluster.Kubectl},
	}
	for _, part := range parts {
		state := "starting again"
		if part.Pid != 0 {
			state = fmt.Sprintf("process %d", part.Pid)
		}
		rows = append(rows, [2]string{part.Name, state})
	}
	for _, row := range rows {
		fmt.Fprintf(table, "%s\t%s\n", row[0], row[1])
	}
	return table.Flush()
}

func (f *flags) printAbsence(out io.Writer, reason error) error {
	if f.output == "json" {
		return printJSON(out, map[string]any{"name": f.name, "running": false})
	}
	_, err := fmt.Fprintln(out, reason)
	return err
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
