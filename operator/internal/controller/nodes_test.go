package controller

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// nodeReader answers a list request with two pages of one Node each, and counts the requests for a first page.
type nodeReader struct {
	client.Reader
	lists int
	err   error
}

func (r *nodeReader) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	if r.err != nil {
		r.lists++
		return r.err
	}
	var asked client.ListOptions
	asked.ApplyOptions(options)
	page := list.(*metav1.PartialObjectMetadataList)
	labels := map[string]string{"kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64"}
	page.Continue = ""
	if asked.Continue == "" {
		r.lists++
		labels["kubernetes.io/arch"], page.Continue = "amd64", "more"
	}
	page.Items = []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Labels: labels}}}
	return nil
}

// unschedulable returns the reconciliation of a cache with an unschedulable Pod, whose plan has these architectures.
func unschedulable(architectures ...string) *reconciliation {
	return &reconciliation{
		outcome:  plan.Ready{Plan: plan.Plan{Pod: plan.Pod{Architectures: architectures}}},
		snapshot: observe.Snapshot{Pods: []observe.Pod{{Unschedulable: true}}},
	}
}

func TestNodesAreListedOnlyWhenNeeded(t *testing.T) {
	both := observe.Nodes{"amd64": 1, "arm64": 1}
	tests := map[string]struct {
		c     *reconciliation
		want  observe.Nodes
		lists int
	}{
		"a Pod has no Node":            {unschedulable("s390x"), both, 1},
		"all Pods have Nodes":          {&reconciliation{outcome: unschedulable("s390x").outcome, snapshot: observe.Snapshot{Pods: []observe.Pod{{}}}}, nil, 0},
		"the Pods may run on any Node": {unschedulable(), nil, 0},
		"there are no Pods":            {&reconciliation{outcome: unschedulable("s390x").outcome}, nil, 0},
		"the spec is invalid":          {&reconciliation{outcome: plan.Invalid{}, snapshot: unschedulable().snapshot}, nil, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			reader := &nodeReader{}
			got, _ := newNodes(reader).lookFor(t.Context(), tc.c)
			if diff := cmp.Diff(tc.want, got); diff != "" || reader.lists != tc.lists {
				t.Errorf("%d lists, want %d; Nodes (-want +got):\n%s", reader.lists, tc.lists, diff)
			}
		})
	}
	if got, _ := newNodes(nil).lookFor(t.Context(), unschedulable("s390x")); got != nil {
		t.Errorf("an operator without the right knows of %v", got)
	}
}

func TestNodesAreListedAtMostOnceAMinute(t *testing.T) {
	for name, err := range map[string]error{"when it is allowed": nil, "when it is not": errors.New("forbidden")} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1_000_000, 0)
			reader := &nodeReader{err: err}
			m := newNodes(reader)
			m.now = func() time.Time { return now }
			for range 6 { // three minutes
				known, _ := m.lookFor(t.Context(), unschedulable("s390x"))
				if (known == nil) != (err != nil) {
					t.Errorf("Nodes %v with error %v", known, err)
				}
				now = now.Add(nodesTTL / 2)
			}
			if reader.lists != 3 {
				t.Errorf("asked %d times in three minutes", reader.lists)
			}
		})
	}
}

// TestAHangingListOfNodesBlocksNoReconciliationBeyondItsTimeout: reconciliations share one list, and a reconciliation
// whose context ends continues without it.
func TestAHangingListOfNodesBlocksNoReconciliationBeyondItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := &hangingReader{release: make(chan struct{})}
		m := newNodes(reader)
		var reconciliations sync.WaitGroup
		for i := range 5 {
			reconciliations.Go(func() {
				allowed, start := time.Duration(i+1)*time.Second, time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), allowed)
				defer cancel()
				if known, _ := m.lookFor(ctx, unschedulable("s390x")); known != nil || time.Since(start) != allowed {
					t.Errorf("after %s of %s, it knows of %v", time.Since(start), allowed, known)
				}
			})
		}
		reconciliations.Wait()
		close(reader.release)
		known, _ := m.lookFor(t.Context(), unschedulable("s390x"))
		if diff := cmp.Diff(observe.Nodes{"amd64": 1, "arm64": 1}, known); diff != "" || reader.lists != 1 {
			t.Errorf("%d lists; Nodes (-want +got):\n%s", reader.lists, diff)
		}
	})
}

// hangingReader answers only when it is released.
type hangingReader struct {
	nodeReader
	release chan struct{}
}

func (r *hangingReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	<-r.release
	return r.nodeReader.List(ctx, list, options...)
}

func TestAReconciliationIsRepeatedWhileItsNodesMayBeOutdated(t *testing.T) {
	some, none := observe.Nodes{"s390x": 1}, observe.Nodes{"amd64": 1}
	tests := map[string]struct {
		nodes  observe.Nodes
		age    time.Duration
		before time.Duration
		want   time.Duration
	}{
		"the Nodes are missing":                        {nodes: none, want: time.Minute},
		"they were missing a while ago":                {nodes: none, age: 20 * time.Second, want: 40 * time.Second},
		"something else is later":                      {nodes: none, before: time.Hour, want: time.Minute},
		"something else is sooner":                     {nodes: none, before: time.Second, want: time.Second},
		"what is known has just become too old":        {nodes: none, age: time.Minute, want: time.Second},
		"there are Nodes, the scheduler decides":       {nodes: some},
		"there were Nodes a while ago":                 {nodes: some, age: 20 * time.Second, want: 40 * time.Second},
		"they are unknown, and something else is soon": {before: time.Second, want: time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := unschedulable("s390x")
			c.nodes, c.nodesAge, c.statusWait = tc.nodes, tc.age, tc.before
			c.input = c.statusInput()
			if got := c.again(); got != tc.want {
				t.Errorf("repeated after %s, want %s", got, tc.want)
			}
		})
	}
}
