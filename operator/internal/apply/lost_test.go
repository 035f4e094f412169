package apply

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

// shelf is an API server with one NetworkPolicy, or none. It remembers what is read and deleted.
type shelf struct {
	client.Reader
	Client
	policy   *networkingv1.NetworkPolicy
	err      error
	requests []string
}

func (s *shelf) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	s.requests = append(s.requests, "get "+key.Name)
	policy, ok := object.(*networkingv1.NetworkPolicy)
	switch {
	case s.err != nil:
		return s.err
	case s.policy == nil || !ok || key.Name != s.policy.Name:
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	s.policy.DeepCopyInto(policy)
	return nil
}

func (s *shelf) Delete(_ context.Context, object client.Object, _ ...client.DeleteOption) error {
	s.requests = append(s.requests, "delete "+object.GetName())
	if s.err == nil {
		s.policy = nil
	}
	return s.err
}

func TestWhatTheCacheDoesNotHaveIsReadBeforeItIsDeleted(t *testing.T) {
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: "team", UID: "uid-1"}}
	policy := func() *networkingv1.NetworkPolicy {
		return &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{
			Name: "cache", Namespace: "team", UID: "uid-policy", OwnerReferences: []metav1.OwnerReference{{
				APIVersion: cachev1.GroupVersion.String(), Kind: "Memcached", Name: mc.Name, UID: mc.UID, Controller: new(true),
			}},
		}}
	}
	unowned := policy()
	unowned.OwnerReferences = nil
	none := map[observe.Key]client.Object{}
	has := map[observe.Key]client.Object{{GroupKind: observe.PolicyKind.GroupKind(), Name: "cache"}: policy()}
	tests := map[string]struct {
		server  *shelf
		happens func(s *Syncer, server *shelf)
		want    []string
	}{
		"nothing happened": {&shelf{policy: policy()}, func(*Syncer, *shelf) {}, nil},
		"it lost its labels": {
			&shelf{policy: policy()},
			func(s *Syncer, _ *shelf) { s.NoteMissing(policy()) },
			[]string{"get cache", "delete cache"},
		},
		"it was deleted": {
			&shelf{}, func(s *Syncer, _ *shelf) { s.NoteMissing(policy()) }, []string{"get cache"},
		},
		"it lost its labels, and was replaced": {
			&shelf{policy: unowned}, func(s *Syncer, _ *shelf) { s.NoteMissing(policy()) },
			[]string{"get cache"},
		},
		"it has its labels again": {&shelf{policy: policy()}, func(s *Syncer, _ *shelf) {
			s.NoteMissing(policy())
			s.TakeCreation(policy())
		}, nil},
		"an object of another controller": {
			&shelf{policy: unowned}, func(s *Syncer, _ *shelf) { s.NoteMissing(unowned) }, nil,
		},
		"its Memcached was deleted": {&shelf{policy: policy()}, func(s *Syncer, _ *shelf) {
			s.NoteMissing(policy())
			s.Forget(client.ObjectKeyFromObject(mc))
		}, nil},
		"the operator deleted it, and the event came later": {
			&shelf{policy: policy()}, func(s *Syncer, _ *shelf) {
				s.Sync(t.Context(), mc, observe.Snapshot{Name: mc.Name, Objects: has}, nil)
				s.NoteMissing(policy())
			}, []string{"delete cache"},
		},
		"the operator could not read it": {
			&shelf{policy: policy(), err: errors.New("no answer")}, func(s *Syncer, server *shelf) {
				s.NoteMissing(policy())
				if report := s.Sync(t.Context(), mc, observe.Snapshot{Name: mc.Name, Objects: none}, nil); report.Err() == nil {
					t.Error("nothing is reported")
				}
				server.err = nil
			}, []string{"get cache", "get cache", "delete cache"},
		},
		"the operator could not delete it, and it lost its labels then": {
			&shelf{policy: policy(), err: errors.New("no answer")}, func(s *Syncer, server *shelf) {
				s.Sync(t.Context(), mc, observe.Snapshot{Name: mc.Name, Objects: has}, nil)
				s.NoteMissing(policy())
				server.err = nil
			}, []string{"delete cache", "get cache", "delete cache"},
		},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			syncer := NewSyncer(tc.server, tc.server, clientgoscheme.Scheme, nil)
			tc.happens(syncer, tc.server)
			for range 2 { // The second time, the loss is known.
				syncer.Sync(t.Context(), mc, observe.Snapshot{Name: mc.Name, Objects: none}, nil)
			}
			if diff := cmp.Diff(tc.want, tc.server.requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestARestartedOperatorLooksForObjectsOnlyOfAnUnfinishedStatus(t *testing.T) {
	failed := []metav1.Condition{{Type: cachev1.ConditionReady, Reason: cachev1.ReasonApplyFailed}}
	tests := map[string]struct {
		status cachev1.MemcachedStatus
		reads  int
	}{
		"a new Memcached":             {},
		"the status is of this spec":  {status: cachev1.MemcachedStatus{ObservedGeneration: 2}},
		"the status is of an earlier": {status: cachev1.MemcachedStatus{ObservedGeneration: 1}, reads: 6},
		"something failed":            {status: cachev1.MemcachedStatus{ObservedGeneration: 2, Conditions: failed}, reads: 6},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			mc := &cachev1.Memcached{
				ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: "team", UID: "uid-1", Generation: 2}, Status: tc.status,
			}
			server := &shelf{}
			syncer := NewSyncer(server, server, clientgoscheme.Scheme, nil)
			for range 2 {
				syncer.Sync(t.Context(), mc, observe.Snapshot{Name: mc.Name}, nil)
			}
			if len(server.requests) != tc.reads {
				t.Errorf("requests %v, want %d", server.requests, tc.reads)
			}
		})
	}
}
