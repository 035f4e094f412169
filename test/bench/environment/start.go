package environment

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
)

// Bare starts an API server and its etcd, without any controller, so only the operator and the bench write objects.
func Bare(ctx context.Context, folders Folders) (*Environment, error) {
	assets, err := builds.Assets(ctx)
	if err != nil {
		return nil, err
	}
	policy, log := filepath.Join(folders.Run, "audit-policy.yaml"), filepath.Join(folders.Run, "audit.log")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	env := &envtest.Environment{BinaryAssetsDirectory: assets}
	env.ControlPlane.GetAPIServer().Configure().
		Append("audit-log-path", log).
		Append("audit-log-maxsize", "10000"). // MiB: the log must not be rotated while it is read.
		Append("audit-policy-file", policy)
	config, err := env.Start()
	if err != nil {
		return nil, errors.Join(err, env.Stop())
	}
	e := &Environment{folders: folders, config: config, Audit: audit.Log{Path: log}, stop: env.Stop}
	if err := e.prepare(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// podsPerNode is more than a real kubelet accepts, so that few Nodes are enough.
const podsPerNode = 2000

// ClusterName is the name of the local cluster for a copy of the repository. So the benches of several copies can run
// at the same time.
func ClusterName(tree string) string { return fmt.Sprintf("bench-%.4x", sha256.Sum256([]byte(tree))) }

// Simulated starts a cluster with the real workload controllers and scheduler, and with as many simulated Nodes as
// these Pods need.
func Simulated(ctx context.Context, folders Folders, pods int) (_ *Environment, err error) {
	name := ClusterName(folders.Tree)
	cluster, err := local.Up(ctx, local.Options{Simulated: true, Name: name, AuditPolicy: auditPolicy, Attached: true})
	if err != nil {
		return nil, err
	}
	if !cluster.Created {
		return nil, fmt.Errorf("cluster %s already runs: another bench of this folder is in progress", name)
	}
	e := &Environment{
		folders: folders, Audit: audit.Log{Path: cluster.AuditLog},
		stop: func() error { return cluster.Down(context.WithoutCancel(ctx)) },
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	room := local.Room("10000", "100Ti")
	room[corev1.ResourcePods] = *resource.NewQuantity(podsPerNode, resource.DecimalSI)
	for i := range pods/podsPerNode + 1 {
		node := local.Node{Name: fmt.Sprintf("node-%02d", i), Architecture: runtime.GOARCH, Room: room}
		if err := cluster.AddNode(ctx, node); err != nil {
			return nil, err
		}
	}
	if e.config, err = cluster.RESTConfig(); err != nil {
		return nil, err
	}
	return e, e.prepare(ctx)
}
