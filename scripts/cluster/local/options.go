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
	// ArgoCDVersion is 3.5.7 or the beginning of it, like 3.5. Where it is empty, a cluster that runs may have any
	// version, and a new one gets the default.
	ArgoCDVersion string
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

// programs returns what the cluster is built from, and the exact version of Argo CD, if it is to have that.
func (o Options) programs() (components []*builds.Component, argoCDVersion string, err error) {
	switch {
	case o.Simulated && o.ArgoCD:
		return nil, "", fmt.Errorf("cluster %q: Argo CD needs a real Node", o.Name)
	case o.Simulated && o.SecondNode:
		return nil, "", fmt.Errorf("cluster %q: --second-node is a real one; add simulated ones with --architectures", o.Name)
	case o.Simulated:
		return builds.Simulated(), "", nil
	case !o.ArgoCD && o.ArgoCDVersion != "":
		return nil, "", fmt.Errorf("version %s of Argo CD for a cluster without Argo CD: leave one of the two out",
			o.ArgoCDVersion)
	case !o.ArgoCD:
		return builds.Cluster(), "", nil
	}
	argoCD, err := builds.ArgoCD(o.ArgoCDVersion)
	if err != nil {
		return nil, "", err
	}
	if components = builds.WithArgoCD(argoCD); o.ApplicationSets {
		components = append(components, builds.ApplicationSets(argoCD))
	}
	argoCDVersion, err = argoCD.Version()
	return components, argoCDVersion, err
}

// accept returns an error where a running cluster is not the one that the options describe.
func (o Options) accept(running *Cluster, argoCDVersion string) error {
	switch {
	case o.Simulated != running.Simulated:
		return fmt.Errorf("cluster %q runs with %s Nodes: take it down first", o.Name,
			map[bool]string{true: "simulated", false: "real"}[running.Simulated])
	case o.ArgoCD && !running.ArgoCD:
		return fmt.Errorf("cluster %q runs without Argo CD: take it down first", o.Name)
	case o.ArgoCDVersion != "" && running.ArgoCDVersion != argoCDVersion:
		return fmt.Errorf("cluster %q runs with Argo CD %s, not %s: take it down first",
			o.Name, running.ArgoCDVersion, argoCDVersion)
	}
	return nil
}
