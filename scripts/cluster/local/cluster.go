// Package local starts and stops a whole Kubernetes cluster on one machine, without Docker: control plane, Node, DNS,
// image registry, Git repository and Argo CD. A cluster with simulated Nodes is only the control plane and kwok, which
// reports that Nodes and Pods are ready. Nothing runs in its Pods, and it needs neither root nor Linux.
//
//	cluster, err := local.Up(ctx, local.Options{Name: "e2e", ArgoCD: true})
//	defer local.Down(ctx, "e2e")
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// ErrNotRunning says that no cluster with this name runs.
var ErrNotRunning = errors.New("not running")

// Cluster has the paths and addresses of a running cluster, for other programs on this machine.
type Cluster struct {
	Name          string    `json:"name"`
	Simulated     bool      `json:"simulated"`
	Kubeconfig    string    `json:"kubeconfig"`         // kubeconfig of an administrator, for programs on this machine
	Registry      string    `json:"registry,omitempty"` // host:port, the same in image references everywhere
	Git           string    `json:"git,omitempty"`      // URL of a bare repository, both for pushes and for Argo CD
	Logs          string    `json:"logs"`               // folder, one file for each process
	AuditLog      string    `json:"auditLog"`           // every request to the API server, one JSON object a line
	Kubectl       string    `json:"kubectl"`            // path of a kubectl of the cluster's version
	Kubernetes    string    `json:"kubernetes"`         // version
	ArgoCD        bool      `json:"argocd"`
	ArgoCDVersion string    `json:"argocdVersion,omitempty"`
	Started       time.Time `json:"started"`
	PartNames     []string  `json:"parts"`
	Pid           int       `json:"pid"` // process id of the supervisor

	// Created is true if Up made the cluster, and false if the cluster was already running.
	Created bool `json:"-"`

	attached io.Closer // if set, the cluster ends when this is closed
}

// RESTConfig returns a config for clients on this machine, with the rights of an administrator.
func (c *Cluster) RESTConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err == nil && c.Simulated {
		config.QPS = -1 // no limit, because tests create thousands of objects
	}
	return config, err
}

// Image returns a reference in the cluster's registry, both for pushes and for Pods.
func (c *Cluster) Image(repository, tag string) string {
	return fmt.Sprintf("%s/%s:%s", c.Registry, repository, tag)
}

// Down stops the cluster and removes its files.
func (c *Cluster) Down(ctx context.Context) error {
	_, err := Down(ctx, c.Name)
	if c.attached != nil {
		_ = c.attached.Close() // nothing reads from it any more
	}
	return err
}

// Find returns a running cluster, or ErrNotRunning.
func Find(name string) (*Cluster, error) {
	dir, err := rundir.Named(name)
	if err != nil {
		return nil, err
	}
	lives, err := dir.Lives()
	if err != nil || !lives {
		return nil, fmt.Errorf("cluster %q: %w", name, cmp.Or(err, ErrNotRunning))
	}
	cluster := &Cluster{}
	if err := rundir.ReadJSON(dir.State(), cluster); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cluster %q is still starting: %w", name, ErrNotRunning)
	} else if err != nil {
		return nil, err
	}
	return cluster, nil
}
