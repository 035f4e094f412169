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
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// nodeReader answers with two pages of one Node each, and counts the lists that are begun.
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

// lacking is the input for a cache with an unschedulable Pod.
func lacking() status.Input {
	return status.Input{
		Plan:     plan.Plan{Architectures: []string{"s390x"}},
		Snapshot: observe.Snapshot{Pods: []observe.Pod{{Unschedulable: true}}},
	}
}

func TestNodesAreListedOnlyWhenNeeded(t *testing.T) {
	both := observe.Nodes{"amd64": 1, "arm64": 1}
	tests := map[string]struct {
		change func(*status.Input)
		want   observe.Nodes
		lists  int
	}{
		"a Pod has no Node":            {func(*status.Input) {}, both, 1},
		"all Pods have Nodes":          {func(in *status.Input) { in.Snapshot.Pods[0].Unschedulable = false }, nil, 0},
		"the Pods may run on any Node": {func(in *status.Input) { in.Plan.Architectures = nil }, nil, 0},
		"there are no Pods":            {func(in *status.Input) { in.Snapshot.Pods = nil }, nil, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			reader, in := &nodeReader{}, lacking()
			tc.change(&in)
			got := newNodes(reader).lookFor(t.Context(), in)
			if diff := cmp.Diff(tc.want, got); diff != "" || reader.lists != tc.lists {
				t.Errorf("%d lists, want %d; Nodes (-want +got):\n%s", reader.lists, tc.lists, diff)
			}
		})
	}
	if got := newNodes(nil).lookFor(t.Context(), lacking()); got != nil {
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
				known := m.lookFor(t.Context(), lacking())
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

// TestAHangingListOfNodesBlocksNoReconciliationBeyondItsTimeout: reconciliations share one list, and one whose context ends
// continues without it.
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
				if known := m.lookFor(ctx, lacking()); known != nil || time.Since(start) != allowed {
					t.Errorf("after %s of %s, it knows of %v", time.Since(start), allowed, known)
				}
				m.lookAgain(lacking(), ctrl.Result{})
			})
		}
		reconciliations.Wait()
		close(reader.release)
		known := m.lookFor(t.Context(), lacking())
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
			now := time.Unix(1_000_000, 0)
			m := newNodes(&nodeReader{})
			m.now, m.asked = func() time.Time { return now }, now.Add(-tc.age)
			in := lacking()
			in.Nodes = tc.nodes
			if got := m.lookAgain(in, ctrl.Result{RequeueAfter: tc.before}).RequeueAfter; got != tc.want {
				t.Errorf("repeated after %s, want %s", got, tc.want)
			}
		})
	}
}
