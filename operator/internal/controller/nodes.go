package controller

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// Without this right, the operator does not know the Nodes, and the status has the message of the scheduler instead.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list

const (
	// nodesTTL is how long the list of Nodes is valid. The Nodes are listed at most once in this time, however many
	// caches need the list.
	nodesTTL = time.Minute

	// nodesFresh is the age up to which a list counts as new: reconciliations that start together share a list.
	nodesFresh = time.Second

	// nodesTimeout limits the list request.
	nodesTimeout = 30 * time.Second
)

// nodes counts the Nodes of the cluster, for Pods that the scheduler cannot place.
type nodes struct {
	reader client.Reader
	now    func() time.Time

	looks singleflight.Group

	mu    sync.Mutex // Not locked while the Nodes are listed.
	asked time.Time
	known observe.Nodes
}

func newNodes(reader client.Reader) *nodes {
	return &nodes{reader: reader, now: time.Now}
}

// lookFor returns the Nodes, and how old the list of them is. It returns nil if the reconciliation does not need the
// Nodes, or if they are unknown. Concurrent reconciliations share one list request, and each waits no longer than its
// own context allows.
func (m *nodes) lookFor(ctx context.Context, c *reconciliation) (known observe.Nodes, age time.Duration) {
	unplaced := slices.ContainsFunc(c.snapshot.Pods, func(pod observe.Pod) bool { return pod.Unschedulable })
	planned, _ := plan.Of(c.outcome)
	if m.reader == nil || !unplaced || len(planned.Architectures) == 0 {
		return nil, 0
	}
	if known, age = m.recall(); age < nodesTTL {
		return known, age
	}
	look := m.looks.DoChan("", func() (any, error) { return m.look(context.WithoutCancel(ctx)), nil })
	select {
	case <-look:
		return m.recall()
	case <-ctx.Done():
		return nil, 0
	}
}

// recall returns the known Nodes, and how old the list is.
func (m *nodes) recall() (known observe.Nodes, age time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known, m.now().Sub(m.asked)
}

// look lists the Nodes. If that fails, the Nodes are unknown until the list is requested again.
func (m *nodes) look(ctx context.Context) observe.Nodes {
	if known, age := m.recall(); age < nodesTTL {
		return known // Another list request ended after the caller's check.
	}
	ctx, cancel := context.WithTimeout(ctx, nodesTimeout)
	defer cancel()
	known, err := observe.CollectNodes(ctx, m.reader)
	if err != nil {
		log.FromContext(ctx).V(1).Info("Nodes cannot be listed", "error", err.Error())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known, m.asked = known, m.now()
	return known
}
