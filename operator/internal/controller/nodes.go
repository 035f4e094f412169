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

// Without this right, the status has the message of the scheduler instead.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list

const (
	// nodesTTL is how long the list of Nodes is valid. It is read at most that often, however many caches need it.
	nodesTTL = time.Minute

	// nodesFresh is how long the list needs no second read: reconciliations that start together share one.
	nodesFresh = time.Second

	// nodesTimeout limits the list request.
	nodesTimeout = 30 * time.Second
)

// nodes counts the Nodes of the cluster, for Pods that the scheduler cannot place.
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

// lookFor returns the Nodes if a reconciliation needs them, or nil if they are unknown. Concurrent reconciliations
// share one list request, and each waits no longer than its own context allows.
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

// recall returns the known Nodes, and whether they are recent enough.
func (m *nodes) recall() (known observe.Nodes, fresh bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known, m.now().Sub(m.asked) < nodesTTL
}

// look lists the Nodes. After a failure they are unknown for a while.
func (m *nodes) look(ctx context.Context) observe.Nodes {
	if known, fresh := m.recall(); fresh {
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

// lookAgain schedules another reconciliation if the message depends on the Nodes, whose changes are not watched, or
// on an old list.
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
