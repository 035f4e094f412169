package controller

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// Where the operator has no such right, the status holds the scheduler's words instead.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list

const (
	// nodesTTL is how long what is known of the machines is taken to be true, and how often they are asked for at
	// most, however many caches lack one.
	nodesTTL = time.Minute

	// nodesFresh is how long it needs no second look: passes that begin together share one.
	nodesFresh = time.Second

	// nodesTimeout is how long the list may take.
	nodesTimeout = 30 * time.Second
)

// machines finds out what machines the cluster has, for nodes that the scheduler found none for.
type nodes struct {
	reader client.Reader
	now    func() time.Time

	looks singleflight.Group

	mu    sync.Mutex // Not held during a list.
	asked time.Time
	known observe.Nodes
}

func newNodes(reader client.Reader) *nodes {
	return &nodes{reader: reader, now: time.Now}
}

// lookFor returns the machines if a reconciliation has need of them, or nil if they are not known. Reconciliations that
// ask at the same time share one list, and each waits for it no longer than its own context allows.
func (m *nodes) lookFor(ctx context.Context, in status.Input) observe.Nodes {
	unplaced := slices.ContainsFunc(in.Snapshot.Pods, func(pod observe.Pod) bool { return pod.Unschedulable })
	if m.reader == nil || !unplaced || len(in.Plan.Architectures) == 0 {
		return nil
	}
	if known, fresh := m.recall(); fresh {
		return known
	}
	look := m.looks.DoChan("", func() (any, error) { return m.look(context.WithoutCancel(ctx)), nil })
	select {
	case result := <-look:
		return result.Val.(observe.Nodes)
	case <-ctx.Done():
		return nil
	}
}

// recall returns what is known of the machines, and whether that is recent enough.
func (m *nodes) recall() (known observe.Nodes, fresh bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known, m.now().Sub(m.asked) < nodesTTL
}

// look lists the machines. If that fails, they are not known for a while.
func (m *nodes) look(ctx context.Context) observe.Nodes {
	if known, fresh := m.recall(); fresh {
		return known // A list ended after the caller looked.
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

// lookAgain has a pass repeated that says what machines there are, as nothing tells when that changes, and one that
// went by an old look.
func (m *nodes) lookAgain(in status.Input, result ctrl.Result) ctrl.Result {
	if in.Nodes == nil {
		return result
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	age := m.now().Sub(m.asked)
	if age < nodesFresh && !status.LacksNodes(in) {
		return result
	}
	result.RequeueAfter = sooner(result.RequeueAfter, max(nodesTTL-age, nodesFresh))
	return result
}
