package integration

import (
	"testing"

	"github.com/onsi/gomega"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestAnAutoscalerAndGitThatOmitsTheSizeDoNotConflict needs no metrics: minReplicas alone makes the real controller act.
func TestAnAutoscalerAndGitThatOmitsTheSizeDoNotConflict(t *testing.T) {
	w := newWorld(t)
	fromGit := func(memory string) {
		mc := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "cache.example.com/v1", "kind": "Memcached",
			"metadata": map[string]any{"namespace": w.namespace, "name": "cache"},
			"spec":     map[string]any{"memory": memory},
		}}
		err := cluster.Apply(w.ctx, client.ApplyConfigurationFromUnstructured(mc),
			client.FieldOwner("argocd-controller"), client.ForceOwnership)
		w.Expect(err).NotTo(gomega.HaveOccurred())
	}
	fromGit("64Mi")
	w.Expect(w.ready("cache").Status.Nodes).To(gomega.HaveLen(1), "the default size")

	hpa := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "cache"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{
				APIVersion: "cache.example.com/v1", Kind: "Memcached", Name: "cache",
			},
			MinReplicas: new(int32(3)), MaxReplicas: 5,
		},
	}
	w.Expect(cluster.Create(w.ctx, hpa)).To(gomega.Succeed())
	eventually(w, "cache", &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool { return *mc.Spec.Size == 3 })
	w.Expect(w.ready("cache").Status.Nodes).To(gomega.HaveLen(3))

	fromGit("128Mi")
	mc := w.ready("cache")
	w.Expect(*mc.Spec.Size).To(gomega.Equal(int32(3)), "Git leaves to the autoscaler what it omits")
	w.Expect(mc.Status.Nodes).To(gomega.HaveLen(3))
}
