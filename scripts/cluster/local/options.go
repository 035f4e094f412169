package local

import (
	"fmt"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
)

// Options say what cluster is wanted.
type Options struct {
	Name   string
	ArgoCD bool
	// ArgoCDVersion is 3.5.7 or the beginning of it, like 3.5. Where it is empty, a cluster that runs may have any
	// version, and a new one gets the default.
	ArgoCDVersion string
	NoInstall     bool // refuse instead of installing what the machine lacks

	// Needs are what the caller calls beside the cluster, so that all that is missing is installed at once.
	Needs []preflight.Need
}

// programs returns what the cluster is built from, and the exact version of Argo CD, if it is to have that.
func (o Options) programs() (binaries []builds.Binary, argoCDVersion string, err error) {
	if !o.ArgoCD {
		if o.ArgoCDVersion != "" {
			return nil, "", fmt.Errorf("version %s of Argo CD for a cluster without Argo CD: leave one of the two out",
				o.ArgoCDVersion)
		}
		return builds.Cluster(), "", nil
	}
	argoCD, err := builds.ArgoCD(o.ArgoCDVersion)
	if err != nil {
		return nil, "", err
	}
	argoCDVersion, err = builds.Version(argoCD)
	return builds.WithArgoCD(argoCD), argoCDVersion, err
}

// accept says what is wrong with a running cluster, for whoever wants the one that the options describe.
func (o Options) accept(running *Cluster, argoCDVersion string) error {
	switch {
	case o.ArgoCD && !running.ArgoCD:
		return fmt.Errorf("cluster %q runs without Argo CD: take it down first", o.Name)
	case o.ArgoCDVersion != "" && running.ArgoCDVersion != argoCDVersion:
		return fmt.Errorf("cluster %q runs with Argo CD %s, not %s: take it down first",
			o.Name, running.ArgoCDVersion, argoCDVersion)
	}
	return nil
}
