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

	deployed "github.com/example-inc/memcached-operator/internal/testing/site"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// site is a cluster with the images that it needs in its registry.
type site struct {
	name   string
	argoCD bool // the newest that the local cluster has

	*pipeline.Pipeline
	images pipeline.Images

	up      sync.Once
	trouble error

	// newest is memcached's image of another suite, once it is fetched.
	fetched   sync.Once
	newest    string
	unfetched error

	// operator is locked by a test that replaces or stops the operator or the API server, or whose many Pods have no room
	// on the Nodes next to those of others, and read-locked by all other tests.
	operator sync.RWMutex

	// room is taken by each test that shares the cluster. With more of them at a time than that, two processors are never
	// idle, so that nothing ends earlier, and probes fail.
	room chan struct{}

	// load is taken by each test whose clients keep processors busy: with many of them, no Pod starts in time.
	load chan struct{}
}

// shared brings the cluster up and the operator into it, unless another test did. The test runs at the same time as
// others that leave the operator alone.
func (s *site) shared(t *testing.T) {
	t.Helper()
	t.Parallel() // Most of it is waiting for Pods.
	s.join(t)
}

// loaded does the same for a test whose clients keep processors busy.
func (s *site) loaded(t *testing.T) {
	t.Helper()
	t.Parallel()
	s.load <- struct{}{}
	t.Cleanup(func() { <-s.load })
	s.join(t)
}

// join takes the test into the cluster for as long as no other test wants the operator for itself.
func (s *site) join(t *testing.T) {
	t.Helper()
	s.start(t)
	s.room <- struct{}{}
	t.Cleanup(func() { <-s.room })
	s.operator.RLock()
	t.Cleanup(s.operator.RUnlock)
}

// exclusive does the same for a test that replaces or stops the operator or the API server, or that needs the Nodes for
// itself. No other test runs in the cluster in the meantime.
func (s *site) exclusive(t *testing.T) {
	t.Helper()
	t.Parallel()
	s.start(t)
	s.alone(t)
}

// alone is for a test that first prepares something while others run.
func (s *site) alone(t *testing.T) {
	t.Helper()
	s.operator.Lock()
	t.Cleanup(s.operator.Unlock)
}

func (s *site) start(t *testing.T) {
	t.Helper()
	s.up.Do(func() { s.trouble = s.bringUp(t.Context()) })
	if s.trouble != nil {
		t.Fatalf("bring up cluster %s: %v", s.name, s.trouble)
	}
}

func (s *site) bringUp(ctx context.Context) error {
	var err error
	if s.Pipeline, err = deployed.Up(ctx, local.Options{Name: s.name, ArgoCD: s.argoCD, SecondNode: !s.argoCD}); err != nil {
		return err
	}
	if err := s.refuseSimulatedNodes(ctx); err != nil {
		return err
	}
	err = progress.Stage(ctx, "Images", func(update func(string)) (err error) {
		s.images, err = s.PushImages(ctx, "0.1.0-e2e", update)
		return err
	})
	if err != nil || s.argoCD {
		return err
	}
	return s.deploy(ctx, oci.Host().Architecture, s.images.Operator, s.images.Memcached)
}

// deploy installs an overlay, or replaces the operator that is there, as a user does.
func (s *site) deploy(ctx context.Context, overlay, operator, memcached string) error {
	images := pipeline.Images{Operator: operator, Agent: s.images.Agent, Memcached: memcached}
	return deployed.Deploy(ctx, s.Pipeline, overlay, images)
}

// refuseSimulatedNodes: on a simulated Node nothing runs in a Pod, so none of these tests would prove anything.
func (s *site) refuseSimulatedNodes(ctx context.Context) error {
	nodes := &corev1.NodeList{}
	if err := s.Client.List(ctx, nodes); err != nil {
		return err
	}
	for _, node := range nodes.Items {
		if node.Labels["type"] == "kwok" || !strings.Contains(node.Status.NodeInfo.ContainerRuntimeVersion, "containerd") {
			return fmt.Errorf("node %s is simulated: these tests need Nodes that run Pods", node.Name)
		}
	}
	return nil
}

// explain says how to look at a cluster that is left running.
func (s *site) explain(out io.Writer) {
	if s.Pipeline != nil {
		fmt.Fprintf(out, "Cluster %s is left running: export KUBECONFIG=%s\n", s.name, s.Cluster.Kubeconfig)
	}
}
