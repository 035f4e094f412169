//go:build e2e

package e2e

import (
	"testing"

	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// keys is how many keys a client stores.
const keys = 200

// chapter is a part of TestGitOps. It begins when the tree is installed and healthy, and leaves the tree in this state.
// It creates the other objects that it needs.
type chapter struct {
	name string
	run  func(*testing.T)
}

// TestGitOps installs the tree in gitops/ by the install method direct, with two kubectl applies, and removes it in the
// end. In between, other clients, commits and failures change or disturb it.
func TestGitOps(t *testing.T) {
	s := gitOps
	s.chapters(t, []chapter{
		{"the root is healthy only when each Memcached is ready", s.rootWaitsForEachCache},
		{"a commit upgrades the operator, its revert rolls it back, and no key is lost", s.upgradeAndRollBack},
		{"what Git says and another client changed is put back, what others add stays", s.driftIsPutBack},
		{"a bad commit is reported, breaks nothing, and the next one recovers", s.badCommitsBreakNothing},
		{"nothing is lost while Git is out of reach", s.gitIsOutOfReach},
		{"a tenant's Applications install what their AppProject permits, and nothing else", s.tenantStaysInItsProject},
		{"an HPA sets a size that Git leaves out, and then nobody writes anything", s.autoscalerSetsTheSize},
		{"a commit that drops the CRD and the namespace deletes neither", s.droppedByMistake},
		{"a repo-server that is killed in the middle of a sync delays it", s.repoServerIsKilled},
		{"the root's deletion takes all of it along but the CRD and the namespace", s.rootIsDeleted},
		{"a repository that names this one by URL and ref installs the same, and its upgrade is another ref", s.consumerFollowsByRef},
	})
}

// chapters installs the tree, and runs one chapter after another.
func (s *site) chapters(t *testing.T, chapters []chapter) {
	t.Helper()
	t.Parallel() // Most of it is waiting for Argo CD.
	s.start(t)
	if !t.Run("two applies install it all, a commit changes it", s.installAndChange) {
		return
	}
	for _, chapter := range chapters {
		t.Run(chapter.name, func(t *testing.T) {
			s.healthy(t, s.head(t))
			chapter.run(t)
		})
	}
}

// install does what a platform team does once: it pushes the repository, and applies two folders.
func (s *site) install(t *testing.T) {
	t.Helper()
	if _, err := s.Publish(t.Context(), "Install the memcached operator", s.images); err != nil {
		t.Fatal(err)
	}
	if err := s.ApplyRoot(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func setOperator(dir, image string) error {
	return values.Edit(dir, func(s *values.Settings) { s.OperatorImage = image })
}
