package apply

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/cache"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	testingclock "k8s.io/utils/clock/testing"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/render"
)

func TestARefusedCreationIsNotRepeatedImmediately(t *testing.T) {
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	const once, twice = 1, 2
	tests := map[string]struct {
		answer error
		later  func(mc *cachev1.Memcached, clock *testingclock.FakeClock)
		want   int
	}{
		"for what another client owns":  {answer: apierrors.NewConflict(deployments, "cache", nil), want: once},
		"for an invalid value":          {answer: apierrors.NewInvalid(schema.GroupKind{}, "cache", nil), want: once},
		"without the right":             {answer: apierrors.NewForbidden(deployments, "cache", nil), want: once},
		"but after a failure of others": {answer: apierrors.NewTimeoutError("late", 1), want: twice},
		"but after a change of the spec": {
			answer: apierrors.NewInvalid(schema.GroupKind{}, "cache", nil), want: twice,
			later: func(mc *cachev1.Memcached, _ *testingclock.FakeClock) { mc.Generation++ },
		},
		"but for another Memcached of the name": {
			answer: apierrors.NewInvalid(schema.GroupKind{}, "cache", nil), want: twice,
			later: func(mc *cachev1.Memcached, _ *testingclock.FakeClock) { mc.UID = "uid-2" },
		},
		"but after a while": {
			answer: apierrors.NewInvalid(schema.GroupKind{}, "cache", nil), want: twice,
			later: func(_ *cachev1.Memcached, clock *testingclock.FakeClock) { clock.Step(refusalTTL + time.Second) },
		},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			server := &stub{there: &appsv1.Deployment{}, applyErr: tc.answer}
			clock := testingclock.NewFakeClock(time.Now())
			syncer := NewSyncer(server, server, clientgoscheme.Scheme, nil)
			syncer.refusals = refusals{cache.NewExpiringWithClock(clock)}
			mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: "team", UID: "uid-1"}}
			sync := func() Outcome {
				return syncer.Sync(t.Context(), mc, observe.Snapshot{}, []render.Object{rendered(t, planned(t, nil))})[0]
			}
			first := sync()
			if tc.later != nil {
				tc.later(mc, clock)
			}
			second := sync()

			applied := 0
			for _, request := range server.asked {
				applied += map[string]int{"apply": 1}[request]
			}
			if applied != tc.want {
				t.Errorf("it was sent %d times, want %d", applied, tc.want)
			}
			says := func(o Outcome) []string { return []string{string(o.Result), o.Why, textOf(o.Err)} }
			if diff := cmp.Diff(says(first), says(second)); diff != "" {
				t.Errorf("the second outcome differs (-first +second):\n%s", diff)
			}
			if tc.want == once && first.RetryAfter > 0 && second.RetryAfter > refusalTTL {
				t.Errorf("it is tried again after %s, want at most %s", second.RetryAfter, refusalTTL)
			}
		})
	}
}

func TestARefusedUpdateIsNotRepeatedImmediately(t *testing.T) {
	const once, twice = 1, 2
	tests := map[string]struct {
		later func(live *appsv1.Deployment, clock *testingclock.FakeClock)
		want  int
	}{
		"while the object is as it was": {want: once, later: func(live *appsv1.Deployment, _ *testingclock.FakeClock) {
			live.ResourceVersion, live.Status.ReadyReplicas = "8", 1
		}},
		"but after a change of the object": {want: twice, later: func(live *appsv1.Deployment, _ *testingclock.FakeClock) {
			live.Generation++
		}},
		"but of an object in its place": {want: twice, later: func(live *appsv1.Deployment, _ *testingclock.FakeClock) {
			live.UID = "uid-3"
		}},
		"but after a while": {want: twice, later: func(_ *appsv1.Deployment, clock *testingclock.FakeClock) {
			clock.Step(refusalTTL + time.Second)
		}},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			cached, fresh := scaled(t)
			cached.Annotations[names.AnnotationAppliedHash] = "former"
			server := &stub{there: fresh, applyErr: apierrors.NewForbidden(schema.GroupResource{}, "cache", nil)}
			clock := testingclock.NewFakeClock(time.Now())
			syncer := NewSyncer(server, server, clientgoscheme.Scheme, nil)
			syncer.refusals = refusals{cache.NewExpiringWithClock(clock)}
			first := syncer.syncDeployment(t, cached)
			tc.later(cached, clock)
			second := syncer.syncDeployment(t, cached)
			if len(server.asked) != tc.want {
				t.Errorf("requests %v, want %d", server.asked, tc.want)
			}
			if diff := cmp.Diff(textOf(first.Err), textOf(second.Err)); diff != "" {
				t.Errorf("the second error differs (-first +second):\n%s", diff)
			}
		})
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
