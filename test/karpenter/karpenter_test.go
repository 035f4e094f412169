//go:build karpenter

package karpenter

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// leaves is how long the removal of a Node with Pods of the cache may take: a minute, and the handoffs of its Pods,
	// each of which takes a second or two here.
	leaves = 70 * time.Second

	// patience is how long Karpenter may take to disrupt a Node, because it evaluates a Node several times before.
	patience = 4 * time.Minute
)

// TestKarpenterRemovesNodesOfACacheWithSlots makes Karpenter remove Nodes for each of its reasons. The interruption of
// a spot Node is a deletion of its NodeClaim, as in the provider of AWS.
func TestKarpenterRemovesNodesOfACacheWithSlots(t *testing.T) {
	w := newWorld(t)
	w.apply("nodepool.yaml", "filler.yaml", "memcached.yaml")
	w.serves()
	w.Eventually(w.nodeClaims).Should(gomega.HaveLen(3))
	w.isNotBlocked()

	steps := []struct {
		name string
		do   func(claims []string)
		left int // how many NodeClaims exist in the end
	}{
		{"consolidation", func([]string) { w.delete("apps/v1", "Deployment", "default", "filler") }, 1},
		{"drift", func([]string) { w.template(`{"metadata":{"labels":{"generation":"2"}},"spec":{"expireAfter":"60s"}}`) }, 1},
		{"expiry", func([]string) {}, 1},
		{"drift, and no expiry any more", func([]string) { w.template(`{"spec":{"expireAfter":"Never"}}`) }, 1},
		{"a deleted NodeClaim", func(claims []string) {
			for _, claim := range claims {
				w.delete("karpenter.sh/v1", "NodeClaim", "", claim)
			}
		}, 1},
	}
	for _, step := range steps {
		before, pods, began := w.nodeClaims(), w.holders(), time.Now()
		step.do(before)
		w.Eventually(func(g gomega.Gomega) {
			now := w.nodeClaims()
			g.Expect(now).To(gomega.HaveLen(step.left))
			if len(before) == step.left {
				g.Expect(now).NotTo(gomega.Equal(before), "another NodeClaim")
			}
			g.Expect(w.holders()).NotTo(gomega.Equal(pods), "other Pods")
		}).Should(gomega.Succeed(), step.name)
		t.Logf("%s: %d Nodes became %d within %s", step.name, len(before), step.left, time.Since(began).Round(time.Second))
		w.serves()
		w.isNotBlocked()
	}
	longest := w.longest()
	t.Logf("a NodeClaim existed for at most %s after its deletion", longest)
	w.Expect(longest).To(gomega.And(gomega.BeNumerically(">", 0), gomega.BeNumerically("<", leaves)))
	w.Expect(w.notes("SlotStartedCold")).To(gomega.BeEmpty())
	w.Expect(w.watch.End()).To(gomega.BeEmpty(), "what clients saw")
}

// isNotBlocked asserts that Karpenter never had to wait for the PodDisruptionBudget of a cache at rest.
func (w *world) isNotBlocked() {
	w.t.Helper()
	w.Expect(w.notes("DisruptionBlocked")).NotTo(gomega.ContainElement(gomega.ContainSubstring("shop")))
}

// template changes the template of future NodeClaims, so that the existing ones drift.
func (w *world) template(change string) {
	w.t.Helper()
	pool := &unstructured.Unstructured{}
	pool.SetAPIVersion("karpenter.sh/v1")
	pool.SetKind("NodePool")
	pool.SetName("default")
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"template":`+change+`}}`))
	w.Expect(w.kube.Patch(w.t.Context(), pool, patch)).To(gomega.Succeed())
}

// notes returns the notes of all events with this reason.
func (w *world) notes(reason string) (notes []string) {
	w.t.Helper()
	events := &corev1.EventList{}
	w.Expect(w.kube.List(w.t.Context(), events)).To(gomega.Succeed())
	for i := range events.Items {
		if events.Items[i].Reason == reason {
			notes = append(notes, events.Items[i].Message)
		}
	}
	return notes
}
