package lab

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
)

// simulatedName is that of the cluster. It differs for each copy of the repository: tests of several may run at a time.
func simulatedName(tree string) string {
	sum := sha256.Sum256([]byte(tree))
	return fmt.Sprintf("bench-%x", sum[:4])
}

// podsANode is more than the kubelet of a real node would take, and as many as make no difference here.
const podsANode = 2000

// Simulated starts a cluster with the real workload controllers and scheduler, and room for so many Pods on simulated
// nodes.
func Simulated(ctx context.Context, tree, dir string, programs Programs, pods int) (l *Lab, err error) {
	cluster, err := local.Up(ctx, local.Options{
		Simulated: true,
		Name:      simulatedName(tree), AuditPolicy: auditPolicy, Attached: true,
	})
	if err != nil {
		return nil, err
	}
	if !cluster.Created {
		return nil, fmt.Errorf("cluster %s runs already: another bench is under way in this folder", cluster.Name)
	}
	stop := func() error { return cluster.Down(context.WithoutCancel(ctx)) }
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	room := local.Room("10000", "100Ti")
	room[corev1.ResourcePods] = *resource.NewQuantity(podsANode, resource.DecimalSI)
	for i := range pods/podsANode + 1 {
		node := local.Node{Name: fmt.Sprintf("node-%02d", i), Architecture: runtime.GOARCH, Room: room}
		if err := cluster.AddNode(ctx, node); err != nil {
			return nil, err
		}
	}
	config, err := cluster.RESTConfig()
	if err != nil {
		return nil, err
	}
	if l, err = newLab(ctx, tree, dir, programs, config); err != nil {
		return nil, err
	}
	l.Audit, l.stop = &Audit{path: cluster.AuditLog}, stop
	return l, nil
}
