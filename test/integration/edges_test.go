package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestRollingOutWhileAFinalizerKeepsAManagedObject(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	w.ready("cache")
	w.patch(&appsv1.Deployment{}, "cache", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	w.Expect(cluster.Delete(w.ctx, w.deployment("cache"))).To(gomega.Succeed())
	w.patchSpec(`{"threads":2}`)
	w.reason("cache", cachev1.ReasonRollingOut)
	w.says("cache", `Deployment "cache" is being deleted; the operator creates it again afterwards; the deletion waits for the finalizers example.com/hold`)
	w.patch(&appsv1.Deployment{}, "cache", `{"metadata":{"finalizers":null}}`)
	w.ready("cache")
}

// TestFieldManagerConflictOfTwoOperatorsCostsFewWrites runs two operators with different defaults, and a cache that is
// updated to the defaults automatically.
func TestFieldManagerConflictOfTwoOperatorsCostsFewWrites(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, operatorKubeconfig)
	scope := "--watch-namespaces=" + w.namespace
	w.startWith([]string{"RELATED_IMAGE_MEMCACHED=registry.example.com/memcached:one"}, scope)
	first := w.operator
	w.memcached("cache", 1)
	w.patchSpec(`{"updatePolicy":"Automatic"}`)
	w.ready("cache")
	w.startWith([]string{"RELATED_IMAGE_MEMCACHED=registry.example.com/memcached:two"}, scope)
	t.Cleanup(func() { _ = first.Process.Kill(); _ = first.Wait() })

	mc := w.reason("cache", cachev1.ReasonFieldManagerConflict)

	w.Expect(meta.FindStatusCondition(mc.Status.Conditions, "Ready").Message).To(gomega.And(
		gomega.MatchRegexp(`containers\[name="memcached"\].image ".*:(one" -> ".*:two|two" -> ".*:one)" by "memcached-operator" \(Apply, `),
		gomega.ContainSubstring("Fix: another memcached operator manages this cache, or an admission webhook")))
	w.Eventually(func() int64 { return w.deployment("cache").Generation }).Should(gomega.BeNumerically("<=", 8))
	if writes := count(w.requests(), "patch deployments"); writes > 8 {
		t.Errorf("%d writes of the Deployment", writes)
	}
}

func (w *world) requests() []string { return audit.requestsOf(w.t, w.namespace) }

func TestAVeryLongMessageOfInvalidSpecIsCut(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	w.ready("cache")
	w.patchSpec(`{"podTemplate":{"metadata":{"labels":{"a":"` + strings.Repeat("x", 40000) + `"}}}}`)
	mc := w.reason("cache", cachev1.ReasonInvalidSpec)
	w.Expect(len(meta.FindStatusCondition(mc.Status.Conditions, "Ready").Message)).To(gomega.BeNumerically("<=", 4096))
	w.Eventually(w.events).Should(gomega.ContainElement("Warning InvalidSpec"))
}

// TestOddButLegalSpecsCostNothingAtRest: the API server may store a value in another form. The operator must compare
// with the stored form.
func TestOddButLegalSpecsCostNothingAtRest(t *testing.T) {
	specs := []string{
		`{"resources":{"requests":{"cpu":"100u","memory":"200000000.0001"}}}`,
		`{"resources":{"requests":{"cpu":"0.0005"},"limits":{"memory":"0.3Gi"}}}`,
		`{"resources":{"limits":{"memory":"1e9","cpu":"0.1"}}}`,
		`{"memory":"0.1Gi"}`,
		`{"rollout":{"maxSurge":"0%","maxUnavailable":1,"minReadySeconds":0}}`,
		`{"rollout":{"minReadySeconds":3600}}`,
		`{"rollout":{"progressDeadlineSeconds":600}}`,
		`{"rollout":{"minReadySeconds":3600,"progressDeadlineSeconds":3601}}`,
		`{"placement":{"affinity":{},"tolerations":[],"nodeSelector":{}}}`,
		`{"placement":{"tolerations":[{"operator":"Exists"}]}}`,
		`{"placement":{"topologySpreadConstraints":[]}}`,
		`{"placement":{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"rack","whenUnsatisfiable":"DoNotSchedule",` +
			`"minDomains":2,"nodeAffinityPolicy":"Honor","matchLabelKeys":["pod-template-hash"]}]}}`,
		`{"placement":{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[]}}}}`,
		`{"podTemplate":{"metadata":{"labels":{"app.kubernetes.io/name":"other"}}},"service":{"metadata":{"annotations":{}}}}`,
		`{"imagePullSecrets":[],"extraArgs":[],"placement":{"preferredArchitectures":[]}}`,
		`{"maxItemSize":"512Ki"}`,
		`{"disruption":{"maxUnavailable":"100%"}}`,
	}
	w := newWorld(t)
	for i, spec := range specs {
		name := fmt.Sprintf("cache%d", i)
		w.memcached(name, 2)
		w.patch(&cachev1.Memcached{}, name, `{"spec":`+spec+`}`)
	}
	w.Eventually(func() []string {
		var unsettled []string
		for i, spec := range specs {
			mc := get(w, fmt.Sprintf("cache%d", i), &cachev1.Memcached{})
			ready := meta.FindStatusCondition(mc.Status.Conditions, "Ready")
			if mc.Status.ObservedGeneration != mc.Generation || len(mc.Status.Nodes) < 2 ||
				ready.Reason != cachev1.ReasonRollingOut {
				unsettled = append(unsettled, spec)
			}
		}
		return unsettled
	}).Should(gomega.BeEmpty())
	w.restartsAtRest()
}
