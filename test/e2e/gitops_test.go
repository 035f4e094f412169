//go:build e2e

package e2e

import (
	"testing"
)

// keys is how many keys a client stores.
const keys = 200

// TestGitOps follows the tree in gitops/ by the way direct, from two applies to its removal, on each version of Argo CD.
// A chapter begins with a tree that is installed and healthy, and leaves it so; each makes what else it needs.
func TestGitOps(t *testing.T) {
	chapters := []struct {
		name string
		tell func(*site, *testing.T)
	}{
		{"the root is healthy only when each Memcached is ready", (*site).rootWaitsForEachCache},
		{"a commit upgrades the operator, its revert rolls it back, and no key is lost", (*site).upgradeAndRollBack},
		{"what Git says and somebody changed is put back, what others add stays", (*site).driftIsPutBack},
		{"a bad commit is told of, breaks nothing, and the next one recovers", (*site).badCommitsBreakNothing},
		{"a commit that drops the CRD and the namespace deletes neither", (*site).droppedByMistake},
		{"nothing is lost while Git is out of reach", (*site).gitIsOutOfReach},
		{"a repo-server that is killed in the middle of a sync delays it", (*site).repoServerIsKilled},
		{"an HPA sets a size that Git leaves out", (*site).autoscalerSetsTheSize},
		{"nobody writes anything for five minutes", (*site).fiveQuietMinutes},
		{"the root's deletion takes all of it along but the CRD and the namespace", (*site).rootIsDeleted},
	}
	for _, s := range sites {
		t.Run("Argo CD "+s.argoCD, func(t *testing.T) {
			s.start(t)
			// One version after the other, so that the figures are those of an idle machine.
			if !t.Run("two applies install it all, a commit changes it", s.installAndMeasure) {
				return
			}
			t.Parallel() // Most of the rest is waiting.
			for _, chapter := range chapters {
				t.Run(chapter.name, func(t *testing.T) {
					s.needs(t)
					chapter.tell(s, t)
				})
			}
		})
	}
}
