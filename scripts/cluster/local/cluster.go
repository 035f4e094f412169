// Package local brings a whole real Kubernetes cluster up on one Linux machine and takes it down
// again: control plane, node, DNS, image registry, Git repository and Argo CD, without Docker.
//
//	cluster, err := local.Up(ctx, local.Options{Name: "e2e", ArgoCD: true})
//	defer local.Down(ctx, "e2e")
package local

import (
	"fmt"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// ErrNotRunning says that no cluster of that name runs.
var ErrNotRunning = rundir.ErrNotRunning

// Cluster is a running cluster, as the rest of the machine sees it.
type Cluster struct {
	Name          string    `json:"name"`
	Kubeconfig    string    `json:"kubeconfig"` // of an administrator, for programs on this machine
	Registry      string    `json:"registry"`   // host:port, the same in image references everywhere
	Git           string    `json:"git"`        // URL of a bare repository, for pushing and for Argo CD alike
	Logs          string    `json:"logs"`       // folder, one file for each part
	AuditLog      string    `json:"auditLog"`   // every request to the API server, one JSON object a line
	Kubectl       string    `json:"kubectl"`    // of the cluster's own version
	Kubernetes    string    `json:"kubernetes"` // version
	ArgoCD        bool      `json:"argocd"`
	ArgoCDVersion string    `json:"argocdVersion,omitempty"`
	Started       time.Time `json:"started"`
	PartNames     []string  `json:"parts"`
	Pid           int       `json:"pid"` // of the first process; nothing of the cluster survives it

	// Created tells a cluster that Up made from one that it found.
	Created bool `json:"-"`
}

// RESTConfig is for clients on this machine.
func (c *Cluster) RESTConfig() (*rest.Config, error) {
	return clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
}

// Image returns a reference in the cluster's registry, for pushing and for Pods alike.
func (c *Cluster) Image(repository, tag string) string {
	return fmt.Sprintf("%s/%s:%s", c.Registry, repository, tag)
}

// Find returns a running cluster, or ErrNotRunning.
func Find(name string) (*Cluster, error) {
	dir, err := dirOf(name)
	if err != nil {
		return nil, err
	}
	cluster := &Cluster{}
	pid, err := dir.Running(cluster)
	if err != nil {
		return nil, fmt.Errorf("cluster %q: %w", name, err)
	}
	cluster.Pid = pid
	return cluster, nil
}

// maxDir leaves room for the kubelet's sockets in the 107 bytes that the kernel allows a socket's path.
const maxDir = 107 - len("/kubelet/device-plugins/kubelet.sock")

func dirOf(name string) (rundir.Dir, error) {
	dir, err := rundir.Named("clusters", name)
	if err == nil && len(dir) > maxDir {
		return "", fmt.Errorf("%s is too long for the sockets in it: set XDG_CACHE_HOME to a shorter path", dir)
	}
	return dir, err
}

// exclusive keeps a second up or down of the same cluster away.
func exclusive(name string) (dir rundir.Dir, release func(), err error) {
	if dir, err = dirOf(name); err != nil {
		return "", nil, err
	}
	release, err = dir.Alone()
	return dir, release, err
}
