package controller

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// podsOnNodes is a cache with one Pod with a slot on each Node.
type podsOnNodes struct{ client.Reader }

func (podsOnNodes) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	applied := &client.ListOptions{}
	applied.ApplyOptions(options)
	for node, instance := range map[string]string{"node-1": "sessions", "node-2": "pages"} {
		if applied.FieldSelector.Matches(fields.Set{nodeIndex: node}) {
			pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: "team", Labels: map[string]string{names.LabelInstance: instance},
				OwnerReferences: []metav1.OwnerReference{{
					APIVersion: "apps/v1", Kind: "ReplicaSet", Name: instance + "-7f", Controller: new(true),
				}},
			}}
			list.(*corev1.PodList).Items = append(list.(*corev1.PodList).Items, pod)
		}
	}
	return nil
}

// requests is a queue that remembers what is added.
type requests struct {
	queue
	added []string
}

func (r *requests) Add(request reconcile.Request) { r.added = append(r.added, request.String()) }

func TestACordonConcernsTheCachesWithPodsOnTheNode(t *testing.T) {
	node := func(name string, cordoned bool) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Unschedulable: cordoned}}
	}
	tests := map[string]struct {
		before, now *corev1.Node
		want        []string
	}{
		"a Node is cordoned":                      {node("node-1", false), node("node-1", true), []string{"team/sessions"}},
		"a Node is uncordoned":                    {node("node-2", true), node("node-2", false), []string{"team/pages"}},
		"another change of a Node":                {node("node-1", true), node("node-1", true), nil},
		"a Node without Pods is cordoned":         {node("node-3", false), node("node-3", true), nil},
		"a Node is cordoned when the watch began": {nil, node("node-1", true), []string{"team/sessions"}},
		"a Node exists when the watch began":      {nil, node("node-1", false), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			found, cordons := &requests{}, (&cordonWatch{reader: podsOnNodes{}}).cordons()
			if tc.before == nil {
				cordons.Create(t.Context(), event.TypedCreateEvent[*corev1.Node]{Object: tc.now}, found)
			} else {
				cordons.Update(t.Context(), event.TypedUpdateEvent[*corev1.Node]{ObjectOld: tc.before, ObjectNew: tc.now}, found)
			}
			if diff := cmp.Diff(tc.want, found.added); diff != "" {
				t.Errorf("reconciled (-want +got):\n%s", diff)
			}
		})
	}
}

// watches counts the watches that a controller is asked to start.
type watches struct {
	controller.Controller
	count int
	err   error
}

func (w *watches) Watch(source.Source) error {
	w.count++
	return w.err
}

func TestNodesAreWatchedOnceACacheHasSlots(t *testing.T) {
	with := func(mode cachev1.SlotsMode) *cachev1.Memcached {
		return &cachev1.Memcached{Spec: cachev1.MemcachedSpec{Slots: &cachev1.Slots{Mode: mode}}}
	}
	had := &cachev1.Memcached{}
	had.Status.Slots = []cachev1.SlotStatus{{Name: "shop-0"}}
	tests := map[string]struct {
		disabled bool
		caches   []*cachev1.Memcached
		err      error
		want     int
	}{
		"a cache without slots needs no watch":        {caches: []*cachev1.Memcached{{}}},
		"a cache with slots starts it":                {caches: []*cachev1.Memcached{{}, with(cachev1.SlotsDNS)}, want: 1},
		"a cache that still has slots starts it":      {caches: []*cachev1.Memcached{had}, want: 1},
		"the next cache shares it":                    {caches: []*cachev1.Memcached{with(cachev1.SlotsDNS), with(cachev1.SlotsClusterIP)}, want: 1},
		"an operator of some namespaces does not":     {disabled: true, caches: []*cachev1.Memcached{with(cachev1.SlotsDNS)}},
		"a watch that could not start is tried again": {caches: []*cachev1.Memcached{had, had}, err: errors.New("no answer"), want: 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			started := &watches{err: tc.err}
			watch := &cordonWatch{controller: started, enabled: !tc.disabled}
			for _, mc := range tc.caches {
				if err := watch.startFor(mc); (err != nil) != (tc.err != nil) {
					t.Errorf("error %v", err)
				}
			}
			if started.count != tc.want {
				t.Errorf("%d watches, want %d", started.count, tc.want)
			}
		})
	}
}
