//go:build e2e

// Package e2e proves the whole chain on a real cluster: commits are pushed to Git, Argo CD syncs them, the operator
// makes Deployments of them, and clients speak memcached's protocol to the Pods. Nothing in it is a mock.
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/demo/chain"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

const (
	clusterName = "e2e"
	namespace   = "memcached-samples"

	// patience is how long something may take that normally takes seconds.
	patience = 3 * time.Minute
)

// What TestMain brings up, for all tests.
var (
	c      *chain.Chain
	images chain.Images
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	//nolint:forbidigo // TestMain has no test to take a context from.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := bringUp(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bring the chain up:", err)
		return 1
	}
	code := m.Run()
	if os.Getenv("E2E_KEEP") != "" {
		fmt.Printf("The cluster is left running: export KUBECONFIG=%s\n", c.Cluster.Kubeconfig)
		return code
	}
	if _, err := local.Down(ctx, clusterName); err != nil {
		fmt.Fprintln(os.Stderr, "take the cluster down:", err)
		return 1
	}
	return code
}

// bringUp makes a new cluster, whatever an earlier run left, and installs the operator from Git.
func bringUp(ctx context.Context) error {
	if _, err := local.Down(ctx, clusterName); err != nil {
		return err
	}
	cluster, err := local.Up(ctx, local.Options{Name: clusterName, ArgoCD: true})
	if err != nil {
		return err
	}
	if c, err = chain.New(ctx, cluster); err != nil {
		return err
	}
	if err := refuseSimulatedNodes(ctx); err != nil {
		return err
	}
	err = progress.Stage(ctx, "Images", func(update func(string)) (err error) {
		images, err = c.PushImages(ctx, "0.1.0-e2e", update)
		return err
	})
	if err != nil {
		return err
	}
	commit, err := c.Publish(ctx, "Install the memcached operator", images)
	if err != nil {
		return err
	}
	if err := c.ApplyRoot(ctx); err != nil {
		return err
	}
	return progress.Stage(ctx, "Argo CD installs the operator", func(update func(string)) error {
		return c.WaitHealthy(ctx, commit, patience, update,
			chain.OperatorApplication, chain.SamplesApplication, chain.RootApplication)
	})
}

// refuseSimulatedNodes: on a simulated node nothing runs in a Pod, so none of these tests would prove anything.
func refuseSimulatedNodes(ctx context.Context) error {
	nodes := &corev1.NodeList{}
	if err := c.Client.List(ctx, nodes); err != nil {
		return err
	}
	for _, node := range nodes.Items {
		if node.Labels["type"] == "kwok" || !strings.Contains(node.Status.NodeInfo.ContainerRuntimeVersion, "containerd") {
			return fmt.Errorf("node %s is simulated: these tests need nodes that run Pods", node.Name)
		}
	}
	return nil
}
