package controller

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	expiring "k8s.io/apimachinery/pkg/util/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// bindings is a cache that has the Secrets with these names.
type bindings struct {
	client.Reader
	names []string
}

func (b bindings) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	if slices.Contains(b.names, key.Name) {
		return nil
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
}

func boundTo(secret string) *cachev1.Memcached {
	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "team"}}
	if secret != "" {
		mc.Spec.Binding = &cachev1.Binding{SecretName: secret}
	}
	return mc
}

func TestTheWatchOfBindingsStartsOnceACacheHasOne(t *testing.T) {
	former := boundTo("")
	former.Status.Binding = &cachev1.BindingStatus{Name: "a"}
	for name, tc := range map[string]struct {
		mc     *cachev1.Memcached
		isLeft bool
		want   bool
	}{
		"none":             {boundTo(""), false, false},
		"one is requested": {boundTo("a"), false, true},
		"there was one":    {former, false, true},
		"a Secret is left": {boundTo(""), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			watched, indexed := &watches{}, &indexes{}
			watch := &bindingWatch{
				controller: watched, cache: indexed, reader: bindings{}, access: &reviewer{}, missing: expiring.NewExpiring(),
				remnants: &remnants{known: true, exist: tc.isLeft},
			}
			for range 2 {
				concerned, _, err := watch.startFor(t.Context(), tc.mc)
				if err != nil || concerned != tc.want {
					t.Errorf("concerned %v, error %v", concerned, err)
				}
				if other, _, err := watch.startFor(t.Context(), boundTo("")); err != nil || other != tc.want {
					t.Errorf("a cache without one is concerned: %v, error %v", other, err)
				}
			}
			if started := watched.count == 1 && indexed.count == 1; started != tc.want {
				t.Errorf("%d watches and %d indexes", watched.count, indexed.count)
			}
		})
	}
}

// TestTheRightsOfABindingAreReviewed checks that the operator reviews its rights for each Secret separately, because a
// role may name the Secret, and does not review them while the Secret exists.
func TestTheRightsOfABindingAreReviewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asker := &reviewer{denied: []string{"team: delete secrets"}}
		watch := &bindingWatch{reader: bindings{names: []string{"there"}}, access: asker, missing: expiring.NewExpiring()}
		missing := func(secret string, want ...string) {
			t.Helper()
			got, err := watch.missingRights(t.Context(), boundTo(secret))
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: error %v, missing (-want +got):\n%s", secret, err, diff)
			}
		}
		missing("there")
		missing("")
		if asker.asked > 0 {
			t.Errorf("%d questions about a Secret that exists", asker.asked)
		}
		missing("a", "delete secrets")
		missing("a", "delete secrets")
		asker.denied = nil
		missing("b")
		if asker.asked != 2*len(bindingVerbs) || asker.named != "b" {
			t.Errorf("%d questions, the last about %q", asker.asked, asker.named)
		}
		missing("a", "delete secrets")
		time.Sleep(rightsTTL + time.Second)
		missing("a")
		asker.err = errors.New("no answer")
		if _, err := watch.missingRights(t.Context(), boundTo("c")); !errors.Is(err, asker.err) {
			t.Errorf("error %v", err)
		}
	})
}
