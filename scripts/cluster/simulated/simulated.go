// Package simulated runs a cluster of simulated nodes: the real etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler, and kwok in the place of the kubelets. It needs neither root nor Linux. Nothing runs in its Pods:
// kwok only says that they are ready once they are scheduled. That is enough to see where Pods go, and no more.
//
//	cluster, err := simulated.Up(ctx, simulated.Options{Name: "placement", Attached: true})
//	defer cluster.Down(ctx)
//	err = cluster.AddNode(ctx, simulated.Node{Name: "one", Architecture: "s390x"})
package simulated

import (
	"context"
	"fmt"
	"io"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// ErrNotRunning says that no simulated cluster of that name runs.
var ErrNotRunning = rundir.ErrNotRunning

// Options say what cluster is wanted.
type Options struct {
	Name string
	// Architectures of the first nodes, one each; the same again for a second one.
	Architectures []string
	// AuditPolicy says what goes into the audit log; without one there is none.
	AuditPolicy string
	// Attached ends the cluster with the calling process, however that ends.
	Attached bool
}

// Cluster is a running cluster.
type Cluster struct {
	Name       string    `json:"name"`
	Kubeconfig string    `json:"kubeconfig"` // of an administrator
	Logs       string    `json:"logs"`       // folder, one file for each process
	AuditLog   string    `json:"auditLog,omitempty"`
	Kubectl    string    `json:"kubectl"`    // of the cluster's own version
	Kubernetes string    `json:"kubernetes"` // version
	Started    time.Time `json:"started"`
	Processes  []Process `json:"processes"`
	Pid        int       `json:"pid"` // of the process that keeps the others

	// Created tells a cluster that Up made from one that it found.
	Created bool `json:"-"`

	keeper io.Closer // what holds an attached cluster
}

// Process is one of those that the cluster is made of.
type Process struct {
	Name string `json:"name"`
	Pid  int    `json:"pid"`
}

// RESTConfig is for an administrator.
func (c *Cluster) RESTConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
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
		return nil, fmt.Errorf("simulated cluster %q: %w", name, err)
	}
	cluster.Pid = pid
	return cluster, nil
}

// Down stops the cluster and removes its files.
func (c *Cluster) Down(ctx context.Context) error {
	_, err := Down(ctx, c.Name)
	if c.keeper != nil {
		_ = c.keeper.Close() // it is gone by now
	}
	return err
}

func dirOf(name string) (rundir.Dir, error) { return rundir.Named("simulated", name) }

// exclusive keeps a second up or down of the same cluster away.
func exclusive(name string) (dir rundir.Dir, release func(), err error) {
	if dir, err = dirOf(name); err != nil {
		return "", nil, err
	}
	release, err = dir.Alone()
	return dir, release, err
}
