//go:build e2e

package e2e

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deployed "github.com/example-inc/memcached-operator/internal/testing/site"
)

// upgradeAndRollBack upgrades the operator by a change to one line of the settings, and reverts this commit.
func (s *site) upgradeAndRollBack(t *testing.T) {
	next, err := deployed.PushOperator(t.Context(), s.Pipeline, "0.2.0-e2e")
	if err != nil {
		t.Fatal(err)
	}
	if next == s.images.Operator {
		t.Fatalf("both versions of the operator are %s", next)
	}
	holds := s.holds(t, sample)
	before := s.applicationSpecs(t)

	upgrade := s.commit(t, "Upgrade the operator", func(dir string) error { return setOperator(dir, next) })
	s.healthy(t, upgrade)
	s.assertOperatorActs(t, next, 1)
	holds.still(t)

	s.healthy(t, s.revert(t, upgrade))
	s.assertOperatorActs(t, s.images.Operator, 2)
	holds.still(t)
	s.healthy(t, s.removeCache(t, "another"))
	// Only the specs are compared, because the root may sync even so: on a busy machine it compares a commit with outdated
	// objects.
	if diff := cmp.Diff(before, s.applicationSpecs(t)); diff != "" {
		t.Errorf("no commit changed an Application, but the Applications differ (-before +after):\n%s", diff)
	}
}

// applicationSpecs returns the spec of each Application.
func (s *site) applicationSpecs(t *testing.T) map[string]any {
	t.Helper()
	all := applicationList()
	if err := s.Client.List(t.Context(), all, client.InNamespace(argoNamespace)); err != nil {
		t.Fatal(err)
	}
	specs := map[string]any{}
	for _, application := range all.Items {
		specs[application.GetName()] = application.Object["spec"]
	}
	return specs
}

// assertOperatorActs checks that only the operator with this image runs, and that it applies a change to a Memcached.
// By then, the operator has reconciled the unchanged Memcacheds, too.
func (s *site) assertOperatorActs(t *testing.T, image string, size int) {
	t.Helper()
	manager := s.manager(t)
	status := manager.Status
	if got := manager.Spec.Template.Spec.Containers[0].Image; got != image || status.Replicas != 1 || status.ReadyReplicas != 1 {
		t.Errorf("the manager runs %s with %d of %d ready, want %s", got, status.ReadyReplicas, status.Replicas, image)
	}
	s.healthy(t, s.commitCache(t, "another", fmt.Sprintf("{size: %d}", size)))
	s.assertReady(t, "another", size)
}

// revert reverts a commit with git revert, as people do.
func (s *site) revert(t *testing.T, commit string) string {
	t.Helper()
	return s.commit(t, "Nothing but the revert", func(dir string) error {
		out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "revert", "--no-edit", commit).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("git revert: %w\n%s", err, out)
		}
		return err
	})
}

// held has the Pods of a cache in which a client has stored keys.
type held struct {
	s     *site
	cache string
	pods  map[string]types.UID
}

// holds makes a client store keys in the cache.
func (s *site) holds(t *testing.T, cache string) held {
	t.Helper()
	s.storeKeys(t, cache, keys)
	return held{s: s, cache: cache, pods: s.pods(t, namespace, cache)}
}

// still checks that no Pod was replaced and no key is lost.
func (h held) still(t *testing.T) {
	t.Helper()
	if diff := cmp.Diff(h.pods, h.s.pods(t, namespace, h.cache)); diff != "" {
		t.Errorf("Pods (-before +after):\n%s", diff)
	}
	if found := h.s.readKeys(t, h.cache, keys).Found; found != keys {
		t.Errorf("%d of %d keys are left", found, keys)
	}
}
