//go:build e2e

package fleet

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/soak"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
)

const (
	hubName, spokeName = "fleet", "fleet-spoke"
	namespace, cache   = "shop", "sessions"

	// patience is how long something may take that normally takes seconds.
	patience = 5 * time.Minute
)

// fleet is a hub, which is also the cluster of ring 1, and the cluster of ring 2.
type fleet struct {
	*gomega.WithT
	t             *testing.T
	hub           *pipeline.Pipeline
	spoke         *spoke
	first, second cluster
	images        pipeline.Images
}

// TestFleet follows several releases. Each step begins and ends with both clusters healthy.
func TestFleet(t *testing.T) {
	soak.Only(t, "the tests of the generated Applications")
	f := start(t)
	f.publish("fleet-1", `{size: 1}`)
	f.rings("fleet-1", "fleet-1")
	f.install()
	f.has("fleet-1", "fleet-1")
	f.ringTwoBeganAfterRingOne()
	untouched := f.cacheOf(f.spoke.kube).ObjectMeta

	bad := f.hub.Cluster.Image("memcached", "missing")
	f.publish("fleet-2", fmt.Sprintf(`{size: 1, image: %q}`, bad))
	f.rings("fleet-2", "fleet-1")
	f.Eventually(func() string { return f.cacheOf(f.hub.Client).Spec.Image }).Should(gomega.Equal(bad))
	f.rings("fleet-2", "fleet-2") // a person, or a program, that is too early
	f.ringTwoWaits("fleet-2")

	f.rings("fleet-1", "fleet-1")
	f.has("fleet-1", "fleet-1")
	if now := f.cacheOf(f.spoke.kube); now.UID != untouched.UID || now.Generation != untouched.Generation {
		t.Errorf("ring 2 has seen the bad version: generation %d, before %d", now.Generation, untouched.Generation)
	}
	f.driftIsPutBack()

	f.publish("fleet-3", `{size: 2}`)
	f.rings("fleet-3", "fleet-1")
	f.has("fleet-3", "fleet-1")
	f.deny(true)
	f.rings("fleet-3", "fleet-3")
	f.Eventually(func() string {
		return text(f.application(f.second.root()), "status", "operationState", "message")
	}).Should(gomega.ContainSubstring("blocked by sync window"))
	f.deny(false)
	f.has("fleet-3", "fleet-3")
	f.Expect(f.cacheOf(f.spoke.kube).Status.ReadyReplicas).To(gomega.BeEquivalentTo(2))
}

// has waits until the rings have these revisions, and their caches are ready.
func (f *fleet) has(first, second string) {
	f.t.Helper()
	want := fmt.Sprintf("%s: %s Synced Healthy, %s: %s Synced Healthy", f.first.root(), first, f.second.root(), second)
	f.Eventually(f.String).Should(gomega.Equal(want))
	for _, kube := range []client.Client{f.hub.Client, f.spoke.kube} {
		mc := f.cacheOf(kube)
		if !meta.IsStatusConditionTrue(mc.Status.Conditions, cachev1.ConditionReady) {
			f.t.Errorf("the ring is healthy, and the cache is not: %v", mc.Status.Conditions)
		}
	}
}

// String describes the state of both rings.
func (f *fleet) String() string {
	var states [2]string
	for i, c := range []cluster{f.first, f.second} {
		root := f.application(c.root())
		reached := text(root, "status", "sync", "comparedTo", "source", "targetRevision")
		states[i] = fmt.Sprintf("%s: %s %s %s", c.root(), reached,
			text(root, "status", "sync", "status"), text(root, "status", "health", "status"))
	}
	return states[0] + ", " + states[1]
}

func (f *fleet) ringTwoBeganAfterRingOne() {
	f.t.Helper()
	ready := meta.FindStatusCondition(f.cacheOf(f.hub.Client).Status.Conditions, cachev1.ConditionReady)
	began, err := time.Parse(time.RFC3339, text(f.application(f.second.root()), "status", "operationState", "startedAt"))
	if err != nil {
		f.t.Fatal(err)
	}
	if began.Before(ready.LastTransitionTime.Time) {
		f.t.Errorf("ring 2 began at %s, and the cache of ring 1 became ready at %s", began, ready.LastTransitionTime)
	}
}

// ringTwoWaits: Argo CD knows the new revision for ring 2, and does not sync it while ring 1 is not healthy.
func (f *fleet) ringTwoWaits(revision string) {
	f.t.Helper()
	f.Eventually(func() string {
		return text(f.application(f.second.root()), "spec", "source", "targetRevision") + " " + f.rollout(f.second)
	}).Should(gomega.Equal(revision + " Waiting"))
	rollout := func() string { return f.rollout(f.first) + ", " + f.rollout(f.second) }
	f.Eventually(rollout).Should(gomega.Equal("Progressing, Waiting"))
	f.Consistently(rollout).WithTimeout(15 * time.Second).Should(gomega.Equal("Progressing, Waiting"))
	caches := f.application("memcached-caches-" + f.second.name)
	if has := text(caches, "spec", "source", "targetRevision"); has == revision {
		f.t.Errorf("the caches of ring 2 follow %s", has)
	}
}

// rollout returns the state of a cluster's root Application in the rollout of the ApplicationSet.
func (f *fleet) rollout(c cluster) string {
	set := f.get("ApplicationSet", "memcached-fleet")
	statuses, _, _ := unstructured.NestedSlice(set.Object, "status", "applicationStatus")
	for _, status := range statuses {
		if fields := status.(map[string]any); fields["application"] == c.root() {
			return fields["status"].(string)
		}
	}
	return "unknown"
}

// driftIsPutBack: drift is reverted in a cluster without a new revision, because RollingSync disables self-heal only
// for the root Application.
func (f *fleet) driftIsPutBack() {
	f.t.Helper()
	drift := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"size":3}}`))
	f.Expect(f.spoke.kube.Patch(f.t.Context(), f.cacheOf(f.spoke.kube), drift)).To(gomega.Succeed())
	f.Eventually(func() int32 { return *f.cacheOf(f.spoke.kube).Spec.Size }).Should(gomega.BeEquivalentTo(1))
}
