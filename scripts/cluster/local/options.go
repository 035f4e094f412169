package local

import (
	"fmt"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
)

// Options describe a cluster.
type Options struct {
	Name string

	// Simulated is a cluster of simulated Nodes, without root, Argo CD, registry and Git.
	Simulated bool
	// Architectures of the first simulated Nodes, one each; the same again for a second one.
	Architectures []string

	// SecondNode is another real Node, with the taint supervisor.SecondNodeTaint.
	SecondNode bool

	ArgoCD bool
	// ApplicationSets is an Argo CD with their controller, and with progressive syncs.
	ApplicationSets bool

	// AuditPolicy is what the audit log records, by default each request without its content.
	AuditPolicy string
	// Attached ends the cluster with the calling process, however that ends.
	Attached bool

	NoInstall bool // fail instead of installing what the machine does not have
	// Needs are what the caller calls in addition to the cluster, so that all that is missing is installed together.
	Needs []preflight.Need
}

// programs returns what the cluster is built from.
func (o Options) programs() ([]*builds.Component, error) {
	switch {
	case o.Simulated && o.ArgoCD:
		return nil, fmt.Errorf("cluster %q: Argo CD needs a real Node", o.Name)
	case o.Simulated && o.SecondNode:
		return nil, fmt.Errorf("cluster %q: --second-node is a real one; add simulated ones with --architectures", o.Name)
	case o.Simulated:
		return builds.Simulated(), nil
	case o.ArgoCD && o.ApplicationSets:
		return append(builds.WithArgoCD(), builds.ApplicationSets), nil
	case o.ArgoCD:
		return builds.WithArgoCD(), nil
	}
	return builds.Cluster(), nil
}

// accept returns an error if a running cluster is not the one that the options describe.
func (o Options) accept(running *Cluster) error {
	switch {
	case o.Simulated != running.Simulated:
		return fmt.Errorf("cluster %q runs with %s Nodes: take it down first", o.Name,
			map[bool]string{true: "simulated", false: "real"}[running.Simulated])
	case o.ArgoCD && !running.ArgoCD:
		return fmt.Errorf("cluster %q runs without Argo CD: take it down first", o.Name)
	}
	return nil
}
