// Package environment provides the clusters in which the runs of a campaign happen, one for each worker. A cluster has
// a real API server, real workload controllers, the real scheduler, kwok instead of the kubelets, and the operator's
// manifests, applied as users apply them.
package environment

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/internal/testing/install"
	"github.com/example-inc/memcached-operator/internal/testing/kubelet"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
	"github.com/example-inc/memcached-operator/test/faults/history"
	"github.com/example-inc/memcached-operator/test/faults/plan"
)

// Environment is a running cluster with the operator's manifests. No operator runs in it yet.
type Environment struct {
	Cluster *local.Cluster
	Client  client.WithWatch // with the rights of an administrator
	Audit   audit.Log

	// OperatorConfig connects as the operator's service account.
	OperatorConfig *rest.Config

	// Real is whether memcached runs in the Pods. If it does not, the images do not exist, either.
	Real bool

	// Images are the images that Pods can have.
	Images Images

	// Kubelet acts instead of the agents of Pods with slots, if no container runs.
	Kubelet *kubelet.Kubelet
}

// Images are the default images of operators.
type Images struct {
	Memcached, LaterMemcached string // images of one release, and of the next one
	Agent, LaterAgent         string
}

// unpulled are images of Pods in which nothing runs.
var unpulled = Images{
	Memcached: "registry.example.com/memcached:1", LaterMemcached: "registry.example.com/memcached:2",
	Agent: "registry.example.com/agent:1", LaterAgent: "registry.example.com/agent:2",
}

// Start starts a cluster of simulated Nodes with the given name, or a cluster with a real Node, for which the process
// must be root. The cluster ends with the calling process at the latest.
func Start(ctx context.Context, root, name string, nodes plan.Nodes) (*Environment, error) {
	options := local.Options{Name: name, Attached: true, AuditPolicy: history.AuditPolicy(install.User)}
	if nodes == plan.RealNodes {
		options.Needs = preflight.Memcached()
	} else {
		options.Simulated, options.Architectures = true, []string{"amd64", "arm64", "s390x"}
	}
	cluster, err := local.Up(ctx, options)
	if err != nil {
		return nil, err
	}
	if !cluster.Created {
		return nil, fmt.Errorf("cluster %s runs already: end the other campaign in this folder first", name)
	}
	e := &Environment{
		Cluster: cluster, Audit: audit.Log{Path: cluster.AuditLog}, Real: nodes == plan.RealNodes, Images: unpulled,
	}
	if e.Real {
		err = e.pushImages(ctx, root)
	} else {
		err = e.editPods()
	}
	if err = errors.Join(err, e.prepare(ctx, root)); err != nil {
		return nil, errors.Join(err, e.Stop(ctx))
	}
	if !e.Real {
		e.Kubelet = kubelet.Start(e.Client)
	}
	return e, nil
}

// Stop stops the cluster and removes its files.
func (e *Environment) Stop(ctx context.Context) error {
	e.Kubelet.Stop()
	return e.Cluster.Down(ctx)
}

// prepare installs the operator without its Deployment, because each run starts the operator as a process. It also
// omits the role bindings, because each run binds the operator's role in the namespace of the run.
func (e *Environment) prepare(ctx context.Context, root string) error {
	config, err := e.Cluster.RESTConfig()
	if err != nil {
		return err
	}
	if e.Client, err = install.NewClient(config); err != nil {
		return err
	}
	without := []string{"Deployment", "ClusterRoleBinding", "RoleBinding"}
	if err := install.Manifests(ctx, config, e.Client, root, without...); err != nil {
		return err
	}
	// The garbage collector looks for new kinds only every 30 seconds and at its start, so it is restarted.
	if err := e.Cluster.Kill("kube-controller-manager"); err != nil {
		return err
	}
	if e.OperatorConfig, err = install.Connect(ctx, config, e.Client); err != nil {
		return err
	}
	e.OperatorConfig.QPS = -1
	return nil
}
