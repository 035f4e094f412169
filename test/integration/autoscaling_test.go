package integration

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/example-inc/memcached-operator/internal/testing/kubelet"
	"github.com/example-inc/memcached-operator/internal/testing/reporting"
	"github.com/example-inc/memcached-operator/internal/testing/unused"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// usageWorld is a world whose agents report how the memory of their Pods is used.
type usageWorld struct {
	*slotWorld

	agents *reporting.Agents

	// report is what the agents report. It is nil if they do not answer.
	report atomic.Pointer[string]
}

// newUsageWorld starts a proxy that answers instead of the agents, because no agents run in these tests.
func newUsageWorld(t *testing.T) *usageWorld {
	t.Helper()
	t.Parallel()
	w := &usageWorld{slotWorld: &slotWorld{}}
	w.world, w.metrics = emptyWorld(t, operatorKubeconfig), unused.Address(t)
	var err error
	w.agents, err = reporting.Start(w.answer)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(w.agents.Stop)
	w.flags = []string{
		"--usage-interval=1s", "--usage-proxy=" + w.agents.URL(), "--metrics-bind-address=" + w.metrics, "--metrics-insecure",
	}
	w.start()
	w.play()
	return w
}

func (w *usageWorld) answer(context.Context, string) (report string, answers bool) {
	if report := w.report.Load(); report != nil {
		return *report, true
	}
	return "", false
}

// needs makes each Pod report that it needs this many mebibytes to keep items for an hour.
func (w *usageWorld) needs(mebibytes int64, isEvicting bool) {
	hour := mebibytes << 20
	w.report.Store(new(fmt.Sprintf(`{"observedSeconds":86400,"memory":67108864,"reads":1000,"hitRatio":0.8,"evicting":%t,
		"evictedAgeSeconds":60,"curve":[{"ageSeconds":60,"memory":%d,"hitRatio":0.5},
		{"ageSeconds":3600,"memory":%d,"hitRatio":0.95},{"ageSeconds":43200,"memory":%d,"hitRatio":0.99}]}`,
		isEvicting, hour/4, hour, 2*hour)))
}

// cache creates a cache of two Pods.
func (w *usageWorld) cache(mode cachev1.AutoscalingMode) {
	w.t.Helper()
	w.memcachedWithSlots("cache", 2, cachev1.SlotsDNS, func(spec *cachev1.MemcachedSpec) {
		spec.Rollout = &cachev1.Rollout{MemoryChange: cachev1.MemoryResize}
		spec.Autoscaling = &cachev1.Autoscaling{Memory: &cachev1.MemoryAutoscaling{
			Mode: mode, Min: new(resource.MustParse("32Mi")), Max: resource.MustParse("1Gi"), CooldownSeconds: 60,
		}}
	})
}

// found returns what the status says about the memory.
func (w *usageWorld) found() cachev1.MemoryAutoscalingStatus {
	found := get(w.world, "cache", &cachev1.Memcached{}).Status.Autoscaling
	if found == nil || found.Memory == nil {
		return cachev1.MemoryAutoscalingStatus{}
	}
	return *found.Memory
}

// current returns the memory that the operator chose.
func (w *usageWorld) current() string {
	if current := w.found().Current; current != nil {
		return current.String()
	}
	return ""
}

func TestTheUseOfTheMemoryIsReportedAndNothingElseChanges(t *testing.T) {
	w := newUsageWorld(t)
	w.cache(cachev1.AutoscalingObserve)
	w.Eventually(func() string { return w.found().Reason }).Should(gomega.Equal(cachev1.MemoryObserving))
	born, containers, _ := w.memory()
	w.needs(96, true)
	w.Eventually(func() string { return w.found().Reason }).Should(gomega.Equal(cachev1.MemoryTooSmall))
	found := w.found()
	want := cachev1.MemoryAutoscalingStatus{
		Reason: cachev1.MemoryTooSmall, Message: "Items that are not used would stay for 1h0m0s with 96Mi, but stay for a shorter time with 64Mi",
		Recommended: new(resource.MustParse("96Mi")), ExpectedHitRatioPercent: new(int32(95)), HitRatioPercent: new(int32(80)),
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	before, reads := len(w.quiet()), w.agents.Reads()
	w.Eventually(w.agents.Reads).Should(gomega.BeNumerically(">", reads+3))
	if more := w.quiet()[before:]; len(more) > 0 {
		t.Errorf("with reports that say the same, the operator requested %v", more)
	}
	w.keepsPods(born)
	if _, now, _ := w.memory(); !cmp.Equal(containers, now) {
		t.Errorf("containers: %s", cmp.Diff(containers, now))
	}

	w.patchSpec(`{"autoscaling":null}`)
	w.Eventually(func() *cachev1.AutoscalingStatus {
		return get(w.world, "cache", &cachev1.Memcached{}).Status.Autoscaling
	}).
		Should(gomega.BeNil())
}

func TestTheMemoryFollowsTheUse(t *testing.T) {
	w := newUsageWorld(t)
	w.cache(cachev1.AutoscalingAct)
	born, _, _ := w.memory()
	w.Eventually(w.current).Should(gomega.Equal("64Mi")) // the default memory
	w.needs(96, true)
	w.Eventually(w.current).Should(gomega.Equal("96Mi"))
	w.needs(96, false)
	w.have("216Mi of 348Mi", "100663296")
	w.keepsPods(born)
	w.says96()

	// A new operator process continues from the status, even if no agent reports.
	w.report.Store(nil)
	w.served("cache")
	w.restartsAtRest()
	w.have("216Mi of 348Mi", "100663296")

	// If the status is lost, the operator restores it from the memory of the Pods.
	w.stop()
	w.patchStatus(get(w.world, "cache", &cachev1.Memcached{}), `{"autoscaling":null}`)
	w.start()
	w.Eventually(w.current).Should(gomega.Equal("96Mi"))
	w.have("216Mi of 348Mi", "100663296")
	w.keepsPods(born)

	// New bounds hold immediately.
	w.patchSpec(`{"autoscaling":{"memory":{"max":"48Mi"}}}`)
	w.Eventually(w.current).Should(gomega.Equal("48Mi"))
	w.served("cache")
	w.keepsPods(born)
}

// says96 waits for the event of the change to 96 MiB.
func (w *usageWorld) says96() {
	w.t.Helper()
	w.Eventually(func() []string { return w.notes("MemoryChosen") }).Should(gomega.ContainElement(
		"The memory of each Pod changes from 64Mi to 96Mi. Items that are not used would stay for 1h0m0s with 96Mi, but stay for a shorter time with 64Mi"))
}

func TestAStepThatANodeRefusesIsTakenBack(t *testing.T) {
	w := newUsageWorld(t)
	w.acts.Store("cache", act(func(pod *corev1.Pod, _ kubelet.Order) {
		kubelet.RefuseResize(pod, corev1.PodReasonInfeasible, "Node didn't have enough memory")
	}))
	w.cache(cachev1.AutoscalingAct)
	born, _, _ := w.memory()
	w.needs(96, true)
	w.Eventually(w.current).Should(gomega.Equal("96Mi"))
	w.reason("cache", cachev1.ReasonResizing)
	w.Eventually(w.current).WithTimeout(5 * time.Minute).Should(gomega.Equal("64Mi"))
	w.served("cache")
	if refused := w.found().Refused; refused == nil || refused.String() != "96Mi" {
		t.Errorf("refused is %s", refused)
	}
	w.keepsPods(born)
}

func TestTheOperatorSetsTheMemoryOnlyWhereNobodyElseDoesAndItNeedsNoRollout(t *testing.T) {
	live := liveMemcached(t)
	const act = `autoscaling: {memory: {mode: Act, max: 1Gi}}`
	for spec, message := range map[string]string{
		`{memory: 64Mi, slots: {}, rollout: {memoryChange: Resize}, ` + act + `}`: "remove memory, or set the mode to Observe",
		`{rollout: {memoryChange: Resize}, ` + act + `}`:                          "needs slots, and rollout.memoryChange Resize",
		`{slots: {}, ` + act + `}`:                                                "needs slots, and rollout.memoryChange Resize",
		`{slots: {}, rollout: {memoryChange: Replace}, ` + act + `}`:              "needs slots, and rollout.memoryChange Resize",
		`{slots: {}, rollout: {memoryChange: Resize}, ` + act + `}`:               "",
		`{memory: 64Mi, autoscaling: {memory: {max: 1Gi}}}`:                       "",
	} {
		for when, err := range tryOut(t, live, spec) {
			if (err == nil) != (message == "") || err != nil && !strings.Contains(err.Error(), message) {
				t.Errorf("%s on %s: %v", spec, when, err)
			}
		}
	}
}

func TestACacheThatIsNotObservedAdmitsNobodyToTheProbes(t *testing.T) {
	w := newUsageWorld(t)
	w.memcachedWithSlots("cache", 1, cachev1.SlotsDNS)
	for _, rule := range get(w.world, "cache", &networkingv1.NetworkPolicy{}).Spec.Ingress {
		for _, port := range rule.Ports {
			if port.Port.IntValue() == 9151 {
				t.Errorf("%+v", rule)
			}
		}
	}
	if reads := w.agents.Reads(); reads > 0 {
		t.Errorf("%d reads of Pods", reads)
	}
}

// TestAutoscalingIsNotLeftWithoutAMemory: the API server refuses to remove autoscaling without setting a memory,
// because the Pods would get the default memory, and lose most keys.
func TestAutoscalingIsNotLeftWithoutAMemory(t *testing.T) {
	const pods = `slots: {}, rollout: {memoryChange: Resize}`
	live := memcachedObject(t, "", `{`+pods+`, autoscaling: {memory: {mode: Act, max: 1Gi}}}`)
	live.SetGenerateName("validation-")
	if err := cluster.Create(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	const message = "set it to status.autoscaling.memory.current"
	for spec, message := range map[string]string{
		`{` + pods + `}`:                                                        message,
		`{` + pods + `, autoscaling: {}}`:                                       message,
		`{` + pods + `, autoscaling: {memory: {max: 1Gi}}}`:                     message,
		`{` + pods + `, memory: 96Mi}`:                                          "",
		`{` + pods + `, memory: 96Mi, autoscaling: {memory: {max: 1Gi}}}`:       "",
		`{` + pods + `, size: 5, autoscaling: {memory: {mode: Act, max: 2Gi}}}`: "",
	} {
		err := tryOut(t, live, spec)["update"]
		if (err == nil) != (message == "") || err != nil && !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
