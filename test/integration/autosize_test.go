package integration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// sized creates a cache of two Pods with 64Mi each. The operator may choose up to five Pods.
func (w *usageWorld) sized(mode cachev1.AutoscalingMode) {
	w.t.Helper()
	w.memcachedWithSlots("cache", 2, cachev1.SlotsDNS, func(spec *cachev1.MemcachedSpec) {
		spec.Slots.ClientHash, spec.Slots.ScaleOverlapSeconds = cachev1.HashKetama, new(int32(1))
		spec.Autoscaling = &cachev1.Autoscaling{Size: &cachev1.SizeAutoscaling{Mode: mode, Max: 5, CooldownSeconds: 60}}
	})
}

// foundSize returns what the status says about the number of Pods.
func (w *usageWorld) foundSize() cachev1.SizeAutoscalingStatus {
	found := get(w.world, "cache", &cachev1.Memcached{}).Status.Autoscaling
	if found == nil || found.Size == nil {
		return cachev1.SizeAutoscalingStatus{}
	}
	return *found.Size
}

// has waits until the operator has chosen this number of Pods, and the cache has it.
func (w *usageWorld) has(size int32) {
	w.t.Helper()
	w.Eventually(func() int32 {
		if current := w.foundSize().Current; current != nil {
			return *current
		}
		return 0
	}).Should(gomega.Equal(size))
	w.Eventually(func(g gomega.Gomega) {
		mc, scale := get(w.world, "cache", &cachev1.Memcached{}), &autoscalingv1.Scale{}
		g.Expect(cluster.SubResource("scale").Get(w.ctx, mc, scale)).To(gomega.Succeed())
		got := []int{len(w.pods("cache")), len(mc.Status.Slots), int(mc.Status.ReadyReplicas), int(scale.Status.Replicas)}
		g.Expect(got).To(gomega.HaveEach(int(size)))
	}).Should(gomega.Succeed())
	w.reason("cache", cachev1.ReasonAllPodsReady)
}

func TestTheNumberOfPodsThatACacheNeedsIsReportedAndNothingElseChanges(t *testing.T) {
	w := newUsageWorld(t)
	w.sized(cachev1.AutoscalingObserve)
	w.Eventually(func() string { return w.foundSize().Reason }).Should(gomega.Equal(cachev1.MemoryObserving))
	w.needs(96, true)
	w.Eventually(func() string { return w.foundSize().Reason }).Should(gomega.Equal(cachev1.MemoryTooSmall))
	want := cachev1.SizeAutoscalingStatus{
		Reason: cachev1.MemoryTooSmall, Message: "Items that are not used would stay for 1h0m0s with 3 Pods, but stay for a shorter time with 2 Pods",
		Recommended: new(int32(3)), ExpectedHitRatioPercent: new(int32(95)), HitRatioPercent: new(int32(80)),
	}
	if diff := cmp.Diff(want, w.foundSize()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	before, reads := len(w.quiet()), w.agents.Reads()
	w.Eventually(w.agents.Reads).Should(gomega.BeNumerically(">", reads+3))
	if more := w.quiet()[before:]; len(more) > 0 {
		t.Errorf("with reports that say the same, the operator requested %v", more)
	}

	// After any change to the size, even by a user, the reports of the Pods are about the old and the new size.
	w.patchSpec(`{"size":3}`)
	w.Eventually(func() bool { return w.foundSize().ChangedAt != nil }).Should(gomega.BeTrue())
	w.Eventually(func() string { return w.foundSize().Message }).
		Should(gomega.Equal("A recommendation needs 26h0m0s of observation with the same number of Pods"))
}

func TestTheNumberOfPodsFollowsTheUse(t *testing.T) {
	w := newUsageWorld(t)
	w.sized(cachev1.AutoscalingAct)
	w.has(2)
	w.needs(96, true)
	w.has(3)
	w.Eventually(func() []string { return w.notes("SizeChosen") }).Should(gomega.ContainElement(
		"The number of Pods changes from 2 to 3. Items that are not used would stay for 1h0m0s with 3 Pods, but stay for a shorter time with 2 Pods"))

	// A HorizontalPodAutoscaler can't set the size at the same time.
	mc := get(w.world, "cache", &cachev1.Memcached{})
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 5}}
	err := cluster.SubResource("scale").Update(w.ctx, mc, client.WithSubResourceBody(scale))
	if err == nil || !strings.Contains(err.Error(), "remove the HorizontalPodAutoscaler, or set the mode to Observe") {
		t.Errorf("the scale subresource: %v", err)
	}

	// A new operator process continues from the status, even if no agent reports.
	w.report.Store(nil)
	w.stop()
	reads := w.agents.Reads()
	w.start()
	w.Eventually(w.agents.Reads).Should(gomega.BeNumerically(">", reads+1))
	w.has(3)

	// If the status is lost, the operator restores it from the list of slots that clients have, so that no Pod is removed.
	w.stop()
	w.patchStatus(get(w.world, "cache", &cachev1.Memcached{}), `{"autoscaling":null}`)
	w.start()
	w.has(3)

	// New bounds hold immediately.
	w.patchSpec(`{"autoscaling":{"size":{"max":2}}}`)
	w.has(2)
	if lost := w.notes("SlotsRemoved"); len(lost) > 0 {
		t.Errorf("keys were lost: %v", lost)
	}
}

func TestTheOperatorSetsTheSizeOnlyWhereKeysSurviveIt(t *testing.T) {
	live := liveMemcached(t)
	const act = `autoscaling: {size: {mode: Act, max: 5}}`
	const needs = "needs slots.clientHash, and slots.handoff.mode Auto"
	for spec, message := range map[string]string{
		`{slots: {clientHash: Ketama}, rollout: {memoryChange: Resize},
			autoscaling: {memory: {mode: Act, max: 1Gi}, size: {mode: Act, max: 5}}}`: "set the mode of one to Observe",
		`{slots: {clientHash: Ketama}, rollout: {memoryChange: Resize},
			autoscaling: {memory: {mode: Act, max: 1Gi}, size: {max: 5}}}`: "",
		`{` + act + `}`:            needs,
		`{slots: {}, ` + act + `}`: needs,
		`{slots: {clientHash: Ketama, handoff: {mode: Never}}, ` + act + `}`:                          needs,
		`{slots: {clientHash: Ketama, handoff: {mode: Auto}}, ` + act + `}`:                           "",
		`{size: 3, slots: {clientHash: Ketama}, ` + act + `}`:                                         "",
		`{size: 3, autoscaling: {size: {max: 5}}}`:                                                    "",
		`{autoscaling: {memory: {max: 1Gi}, size: {max: 5}}}`:                                         "",
		`{slots: {clientHash: Ketama}, autoscaling: {memory: {max: 1Gi}, size: {mode: Act, max: 5}}}`: "",
	} {
		for when, err := range tryOut(t, live, spec) {
			if (err == nil) != (message == "") || err != nil && !strings.Contains(err.Error(), message) {
				t.Errorf("%s on %s: %v", spec, when, err)
			}
		}
	}
}

// TestAutoscalingIsNotLeftWithFewerPodsThanWereChosen: the API server refuses this, because Pods would be removed.
func TestAutoscalingIsNotLeftWithFewerPodsThanWereChosen(t *testing.T) {
	const pods = `slots: {clientHash: Ketama}`
	live := memcachedObject(t, "", `{size: 3, `+pods+`, autoscaling: {size: {mode: Act, max: 9}}}`)
	live.SetGenerateName("validation-")
	if err := cluster.Create(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"replicas":5,"readyReplicas":5,
		"autoscaling":{"size":{"reason":"Fits","message":"it does","current":5}}}}`))
	if err := cluster.Status().Patch(t.Context(), live, patch); err != nil {
		t.Fatal(err)
	}
	// If the operator has not written yet which number it chose, it has changed no Pods, so status.replicas is the limit.
	unknown := live.DeepCopy()
	if err := cluster.Status().Patch(t.Context(), unknown, client.RawPatch(
		"application/merge-patch+json", []byte(`{"status":{"autoscaling":null}}`))); err != nil {
		t.Fatal(err)
	}
	if err := tryOut(t, unknown, `{size: 4, `+pods+`}`)["update"]; err == nil || !strings.Contains(err.Error(), "status.replicas") {
		t.Errorf("a spec with fewer Pods than the cache has was not refused: %v", err)
	}
	if err := cluster.Status().Patch(t.Context(), live, patch); err != nil {
		t.Fatal(err)
	}
	const leaves, changes = "set it to status.autoscaling.size.current", "size can't be changed while autoscaling.size.mode is Act"
	for spec, message := range map[string]string{
		`{` + pods + `}`:          leaves,
		`{size: 4, ` + pods + `}`: leaves,
		`{size: 4, ` + pods + `, autoscaling: {size: {max: 9}}}`: leaves,
		`{size: 5, ` + pods + `, autoscaling: {size: {max: 9}}}`: "",
		`{size: 6}`: "",
		`{size: 5, ` + pods + `, autoscaling: {size: {mode: Act, max: 9}}}`: changes,
		`{size: 3, ` + pods + `, autoscaling: {size: {mode: Act, max: 8}}}`: "",
		`{` + pods + `, autoscaling: {size: {mode: Act, max: 9}}}`:          "", // Git has no size now.
	} {
		err := tryOut(t, live, spec)["update"]
		if (err == nil) != (message == "") || err != nil && !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
