//go:build linux

package main

import (
	"fmt"
	"io"
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
	return printTable(out, rows)
}

func (f *flags) printAbsence(out io.Writer, reason error) error {
	if f.output == "json" {
		return printJSON(out, map[string]any{"name": f.name, "running": false})
	}
	_, err := fmt.Fprintln(out, reason)
	return err
}
