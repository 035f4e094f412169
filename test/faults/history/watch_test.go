package history

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

func object(name, version string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("v1")
	o.SetKind("Pod")
	o.SetName(name)
	o.SetUID(types.UID("uid of " + name))
	o.SetResourceVersion(version)
	return o
}

// server is a fake API server that restarts once. Each watch ends after its events.
type server struct {
	lists   []*unstructured.UnstructuredList
	watches [][]watch.Event
	errors  []error // errors of the requests that start watches
	from    []string
	end     context.CancelFunc
}

func (s *server) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	list := s.lists[0]
	s.lists = s.lists[1:]
	return list, nil
}

func (s *server) Watch(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
	s.from = append(s.from, o.ResourceVersion)
	if len(s.watches) == 0 {
		s.end()
		return nil, fmt.Errorf("the test is over")
	}
	events, err := s.watches[0], s.errors[0]
	s.watches, s.errors = s.watches[1:], s.errors[1:]
	w := watch.NewFakeWithChanSize(len(events), false)
	for _, event := range events {
		w.Action(event.Type, event.Object)
	}
	w.Stop()
	return w, err
}

func list(version string, items ...*unstructured.Unstructured) *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{}
	l.SetResourceVersion(version)
	for _, item := range items {
		l.Items = append(l.Items, *item)
	}
	return l
}

func TestTheRecorderResumesAfterTheAPIServerHasRestarted(t *testing.T) {
	expired := apierrors.NewResourceExpired("too old resource version").ErrStatus
	tests := map[string]struct {
		watches [][]watch.Event
		errors  []error
		lists   []*unstructured.UnstructuredList // the answers to lists after the first one
		want    []string
		from    []string
	}{
		"a watch that ends is resumed": {
			watches: [][]watch.Event{
				{{Type: watch.Added, Object: object("a", "11")}, {Type: watch.Bookmark, Object: object("", "15")}},
				{{Type: watch.Modified, Object: object("a", "16")}},
			},
			errors: []error{nil, nil},
			want:   []string{"ADDED a 11", "MODIFIED a 16"},
			from:   []string{"10", "15", "16"},
		},
		"a watch that cannot start is tried again": {
			watches: [][]watch.Event{nil, {{Type: watch.Added, Object: object("a", "11")}}},
			errors:  []error{fmt.Errorf("connection refused"), nil},
			want:    []string{"ADDED a 11"},
			from:    []string{"10", "10", "11"},
		},
		"a watch without the events lists what is stored": {
			watches: [][]watch.Event{
				{
					{Type: watch.Added, Object: object("same", "11")}, {Type: watch.Added, Object: object("changed", "12")},
					{Type: watch.Added, Object: object("deleted", "13")},
				},
				{{Type: watch.Error, Object: &expired}},
				{{Type: watch.Modified, Object: object("same", "31")}},
			},
			errors: []error{nil, nil, nil},
			lists: []*unstructured.UnstructuredList{
				list("30", object("same", "11"), object("changed", "20"), object("new", "21")),
			},
			want: []string{
				"ADDED same 11", "ADDED changed 12", "ADDED deleted 13",
				"MODIFIED changed 20", "ADDED new 21", "DELETED deleted 30", "MODIFIED same 31",
			},
			from: []string{"10", "13", "30", "31"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			s := &server{
				lists: append([]*unstructured.UnstructuredList{list("10")}, tc.lists...), watches: tc.watches, errors: tc.errors, end: end,
			}
			var got []string
			f := &follower{source: s, add: func(e Entry) { got = append(got, line(e)) }}
			if err := f.start(ctx); err != nil {
				t.Fatal(err)
			}
			f.run(ctx)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.from, s.from); diff != "" {
				t.Errorf("watches began at (-want +got):\n%s", diff)
			}
		})
	}
}
