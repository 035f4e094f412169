// Package environment is what runs of the campaign happen in: its own cluster for each worker, with a real API
// server, real workload controllers, the real scheduler, and kwok instead of the kubelets; and the operator's
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
	Client  client.WithWatch // as administrator
	Audit   audit.Log

	// OperatorConfig connects as the operator's service account.
	OperatorConfig *rest.Config

	// Real is whether memcached runs in the Pods. If not, the images do not exist either.
	Real bool

	// Images that Pods can have.
	Images Images

	// Kubelet plays the agents of Pods with slots, if no container runs.
	Kubelet *kubelet.Kubelet
}

// Images are the default images of operators.
type Images struct {
	Memcached, LaterMemcached string // of one release, and of the next
	Agent, LaterAgent         string
}

// unpulled are images of Pods in which nothing runs.
var unpulled = Images{
	Memcached: "registry.example.com/memcached:1", LaterMemcached: "registry.example.com/memcached:2",
	Agent: "registry.example.com/agent:1", LaterAgent: "registry.example.com/agent:2",
}

// Start starts a cluster of simulated Nodes with the given name, or one with a real Node, for which it must be root. It
// ends with the calling process at the latest.
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

// prepare installs the operator without its Deployment, because runs start it as a process, and without bindings: each
// run gives it the role in its own namespace.
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
	// The garbage collector looks for new kinds every 30 seconds, and at its start.
	if err := e.Cluster.Kill("kube-controller-manager"); err != nil {
		return err
	}
	if e.OperatorConfig, err = install.Connect(ctx, config, e.Client); err != nil {
		return err
	}
	e.OperatorConfig.QPS = -1
	return nil
}
