//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
	"github.com/example-inc/memcached-operator/scripts/demo/chain"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// site is a cluster with Argo CD, and with the images that it needs in its registry.
type site struct {
	name   string
	argoCD string // version

	*chain.Chain
	images chain.Images

	up        sync.Once
	installed bool
	trouble   error
}

// start brings the cluster up, unless another test did.
func (s *site) start(t *testing.T) {
	t.Helper()
	s.up.Do(func() { s.trouble = s.bringUp(t.Context()) })
	if s.trouble != nil {
		t.Fatalf("bring up cluster %s with Argo CD %s: %v", s.name, s.argoCD, s.trouble)
	}
}

// needs brings the cluster up and the tree into it, unless another test did, and waits until all of it is healthy.
func (s *site) needs(t *testing.T) {
	t.Helper()
	s.start(t)
	if !s.installed {
		s.install(t)
	}
	s.healthy(t, s.head(t))
}

// install is what a platform team does once: push, and apply two folders.
func (s *site) install(t *testing.T) {
	t.Helper()
	if _, err := s.Publish(t.Context(), "Install the memcached operator", s.images); err != nil {
		t.Fatal(err)
	}
	if err := s.ApplyRoot(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.installed = true
}

func (s *site) bringUp(ctx context.Context) error {
	cluster, err := local.Up(ctx, local.Options{Name: s.name, ArgoCD: true, ArgoCDVersion: s.argoCD, Needs: preflight.Memcached()})
	if err != nil {
		return err
	}
	if s.Chain, err = chain.New(ctx, cluster); err != nil {
		return err
	}
	if err := s.refuseSimulatedNodes(ctx); err != nil {
		return err
	}
	return progress.Stage(ctx, "Images", func(update func(string)) (err error) {
		s.images, err = s.PushImages(ctx, "0.1.0-e2e", update)
		return err
	})
}

// refuseSimulatedNodes: on a simulated node nothing runs in a Pod, so none of these tests would prove anything.
func (s *site) refuseSimulatedNodes(ctx context.Context) error {
	nodes := &corev1.NodeList{}
	if err := s.Client.List(ctx, nodes); err != nil {
		return err
	}
	for _, node := range nodes.Items {
		if node.Labels["type"] == "kwok" || !strings.Contains(node.Status.NodeInfo.ContainerRuntimeVersion, "containerd") {
			return fmt.Errorf("node %s is simulated: these tests need nodes that run Pods", node.Name)
		}
	}
	return nil
}

// tell says how to look at a cluster that is left running.
func (s *site) tell(out io.Writer) {
	if s.Chain != nil {
		fmt.Fprintf(out, "Argo CD %s is left running: export KUBECONFIG=%s\n", s.argoCD, s.Cluster.Kubeconfig)
	}
}
