package local

import (
	"fmt"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
)

// Options describe a cluster.
type Options struct {
	Name string

	// Simulated means a cluster of simulated Nodes. It needs no root, and has no Argo CD, no registry and no Git.
	Simulated bool
	// Architectures are the architectures of the first simulated Nodes. Each entry adds a Node, even if another entry is
	// the same.
	Architectures []string

	// SecondNode means that the cluster has another real Node, with the taint supervisor.SecondNodeTaint.
	SecondNode bool

	ArgoCD bool
	// ApplicationSets means that Argo CD has the controller of ApplicationSets, and progressive syncs.
	ApplicationSets bool

	// AuditPolicy is the audit policy of the API server. By default, the audit log has each request without its content.
	AuditPolicy string
	// Attached means that the cluster ends when the calling process ends, however that process ends.
	Attached bool

	NoInstall bool // fail instead of installing what the machine does not have
	// Needs are the programs that the caller needs in addition to the programs of the cluster. All missing programs are
	// installed together.
	Needs []preflight.Need
}

// programs returns the components from which the cluster is built.
func (o Options) programs() ([]*builds.Component, error) {
	switch {
	case o.Simulated && o.ArgoCD:
		return nil, fmt.Errorf("cluster %q: Argo CD needs a real Node", o.Name)
	case o.Simulated && o.SecondNode:
		return nil, fmt.Errorf("cluster %q: --second-node adds a real Node; add simulated Nodes with --architectures", o.Name)
	case o.Simulated:
		return builds.Simulated(), nil
	case o.ArgoCD && o.ApplicationSets:
		return append(builds.WithArgoCD(), builds.ApplicationSets), nil
	case o.ArgoCD:
		return builds.WithArgoCD(), nil
	}
	return builds.Cluster(), nil
}

// accept returns an error unless the running cluster fits the options.
func (o Options) accept(running *Cluster) error {
	switch {
	case o.Simulated != running.Simulated:
		return fmt.Errorf("cluster %q runs already, with %s Nodes: stop it first with `down`", o.Name,
			map[bool]string{true: "simulated", false: "real"}[running.Simulated])
	case o.ArgoCD && !running.ArgoCD:
		return fmt.Errorf("cluster %q runs already, without Argo CD: stop it first with `down`", o.Name)
	}
	return nil
}
