package integration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestANewMemcachedBecomesReadyWithItsPodsInTheStatus(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 3)
	w.reason("cache", cachev1.ReasonRollingOut)

	mc := w.ready("cache")

	want := cachev1.MemcachedStatus{
		ObservedGeneration: 1,
		Nodes:              podNames(w.pods("cache")),
		Replicas:           3,
		ReadyReplicas:      3,
		Selector:           "app=memcached,memcached_cr=cache",
		Endpoint:           "cache." + w.namespace + ".svc:11211",
		Image:              w.deployment("cache").Spec.Template.Spec.Containers[0].Image,
		AgentImage:         w.deployment("cache").Spec.Template.Spec.InitContainers[0].Image,
		TemplateRevision:   1,
		TemplateInputs:     w.deployment("cache").Annotations["cache.example.com/template-inputs"],
		Conditions: []metav1.Condition{{
			Type: cachev1.ConditionReady, Status: "True", ObservedGeneration: 1,
			Reason: cachev1.ReasonAllPodsReady, Message: "3 of 3 Pods ready",
			LastTransitionTime: meta.FindStatusCondition(mc.Status.Conditions, "Ready").LastTransitionTime,
		}, {
			Type: cachev1.ConditionUpdatePending, Status: "False", ObservedGeneration: 1,
			Reason: cachev1.ReasonNoUpdatePending, Message: "No update is pending",
			LastTransitionTime: meta.FindStatusCondition(mc.Status.Conditions, "UpdatePending").LastTransitionTime,
		}},
	}
	if diff := cmp.Diff(want, mc.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	service := get(w, "cache", &corev1.Service{})
	w.Expect(service.Spec.ClusterIP).To(gomega.Equal(corev1.ClusterIPNone))
	w.Expect(service.Spec.PublishNotReadyAddresses).To(gomega.BeFalse())
}

func TestScalingThroughTheScaleSubresourceAddsAndRemovesPods(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	w.ready("cache")
	for _, size := range []int32{4, 2, 0, 1} {
		mc := get(w, "cache", &cachev1.Memcached{})
		scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: size}}
		w.Expect(cluster.SubResource("scale").Update(w.ctx, mc, client.WithSubResourceBody(scale))).To(gomega.Succeed())
		mc = w.ready("cache")
		w.Expect(mc.Status.Nodes).To(gomega.HaveLen(int(size)))
		w.Expect(mc.Status.Replicas).To(gomega.Equal(size))
	}
	w.Expect(w.deployment("cache").Generation).To(gomega.BeNumerically("==", 5), "one write a change of size")
}

func TestTheLongestNameServes(t *testing.T) {
	w := newWorld(t)
	name := "a" + strings.Repeat("-z", 31)
	w.Expect(name).To(gomega.HaveLen(63))
	w.memcached(name, 2)
	w.Expect(w.ready(name).Status.Nodes).To(gomega.HaveLen(2))
}

func TestInvalidSpecOfAnImageThatIsNoReferenceChangesNoPod(t *testing.T) {
	w := newWorld(t)
	mc := w.memcached("cache", 2)
	w.ready("cache")
	before := w.deployment("cache")
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"image":"Memcached:UPPER//x"}}`))
	w.Expect(cluster.Patch(w.ctx, mc, patch)).To(gomega.Succeed())
	mc = w.reason("cache", cachev1.ReasonInvalidSpec)
	w.Expect(meta.IsStatusConditionTrue(mc.Status.Conditions, cachev1.ConditionStalled)).To(gomega.BeTrue())
	w.Expect(meta.FindStatusCondition(mc.Status.Conditions, "Ready").Message).To(gomega.ContainSubstring(`spec.image "Memcached:UPPER//x"`))
	w.Expect(mc.Status.Nodes).To(gomega.HaveLen(2), "the status still reports the Pods that run")
	w.Expect(w.deployment("cache").ResourceVersion).To(gomega.Equal(before.ResourceVersion))

	patch = client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"image":null}}`))
	w.Expect(cluster.Patch(w.ctx, mc, patch)).To(gomega.Succeed())
	w.reason("cache", cachev1.ReasonAllPodsReady)
}
