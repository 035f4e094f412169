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
	argoCD bool // whether to install Argo CD, in the newest version that the local cluster supports

	*pipeline.Pipeline
	images pipeline.Images

	up      sync.Once
	trouble error

	// newest is an image with memcached from a Debian suite whose memcached is new enough for slots. It is empty until the
	// image is fetched.
	fetched   sync.Once
	newest    string
	unfetched error

	// operator is locked by a test that replaces or stops the operator or the API server, or that has so many Pods that
	// the Nodes have no room for the Pods of other tests. All other tests lock it for reading.
	operator sync.RWMutex

	// room limits how many tests share the cluster at a time. With more tests, two processors are never idle, so the tests
	// would not end earlier, but probes would fail.
	room chan struct{}

	// load limits how many tests run at a time whose clients keep processors busy. With more of them, Pods would not start
	// in time.
	load chan struct{}
}

// shared starts the cluster with the operator, unless another test has done so. The test runs at the same time as other
// tests that don't stop or replace the operator.
func (s *site) shared(t *testing.T) {
	t.Helper()
	t.Parallel() // Most of it is waiting for Pods.
	s.join(t)
}

// loaded does the same as shared, for a test whose clients keep processors busy.
func (s *site) loaded(t *testing.T) {
	t.Helper()
	t.Parallel()
	s.load <- struct{}{}
	t.Cleanup(func() { <-s.load })
	s.join(t)
}

// join waits until the test may use the cluster. It waits as long as another test needs the operator for itself.
func (s *site) join(t *testing.T) {
	t.Helper()
	s.start(t)
	s.room <- struct{}{}
	t.Cleanup(func() { <-s.room })
	s.operator.RLock()
	t.Cleanup(s.operator.RUnlock)
}

// exclusive does the same as shared, for a test that replaces or stops the operator or the API server, or that needs
// the Nodes for itself. During this test, no other test runs in the cluster.
func (s *site) exclusive(t *testing.T) {
	t.Helper()
	t.Parallel()
	s.start(t)
	s.alone(t)
}

// alone waits until the test may use the cluster alone. A test can call it after preparations during which other tests
// run.
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

// deploy installs an overlay as a user does. It replaces an operator that is already installed.
func (s *site) deploy(ctx context.Context, overlay, operator, memcached string) error {
	images := pipeline.Images{Operator: operator, Agent: s.images.Agent, Memcached: memcached}
	return deployed.Deploy(ctx, s.Pipeline, overlay, images)
}

// refuseSimulatedNodes returns an error if the cluster has simulated Nodes. No program runs in their Pods, so these
// tests would prove nothing.
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

// explain prints how to look at a cluster that is left running.
func (s *site) explain(out io.Writer) {
	if s.Pipeline != nil {
		fmt.Fprintf(out, "Cluster %s is left running: export KUBECONFIG=%s\n", s.name, s.Cluster.Kubeconfig)
	}
}
