package integration

import (
	"testing"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestAnOwnerlessObjectIsTakenOverWhenTheMemcachedSaysSo(t *testing.T) {
	w := newWorld(t)
	deployment, service := deploymentLike(w.namespace, ourSelector), serviceLike(w.namespace, corev1.ClusterIPNone)
	w.Expect(cluster.Create(w.ctx, deployment)).To(gomega.Succeed())
	w.Expect(cluster.Create(w.ctx, service)).To(gomega.Succeed())
	mc := w.memcached("cache", 1)
	w.reason("cache", cachev1.ReasonOwnershipConflict)

	w.patch(&cachev1.Memcached{}, "cache", `{"metadata":{"annotations":{"cache.example.com/adopt":"Deployment, service"}}}`)
	w.ready("cache")

	adopted := w.deployment("cache")
	w.Expect(adopted.UID).To(gomega.Equal(deployment.UID))
	w.Expect(metav1.IsControlledBy(adopted, mc)).To(gomega.BeTrue())
	w.Expect(metav1.IsControlledBy(get(w, "cache", &corev1.Service{}), mc)).To(gomega.BeTrue())
}

func TestWhatIsNotNamedOrHasAnOwnerOrAnotherSelectorIsNotTakenOver(t *testing.T) {
	tests := map[string]struct {
		foreign func(w *world) *appsv1.Deployment
		adopt   string
		want    string
	}{
		"another kind is named": {
			foreign: func(w *world) *appsv1.Deployment { return deploymentLike(w.namespace, ourSelector) },
			adopt:   "service",
			want:    "has no owner",
		},
		"it has an owner": {
			foreign: func(w *world) *appsv1.Deployment {
				owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "owner"}}
				w.Expect(cluster.Create(w.ctx, owner)).To(gomega.Succeed())
				deployment := deploymentLike(w.namespace, ourSelector)
				deployment.OwnerReferences = []metav1.OwnerReference{{
					APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID,
				}}
				return deployment
			},
			adopt: "deployment",
			want:  "belongs to ConfigMap owner",
		},
		"its selector is another one, which can't be changed": {
			foreign: func(w *world) *appsv1.Deployment {
				return deploymentLike(w.namespace, map[string]string{"app": "theirs"})
			},
			adopt: "deployment",
			want:  "has another selector, which can not be changed",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			foreign := tc.foreign(w)
			w.Expect(cluster.Create(w.ctx, foreign)).To(gomega.Succeed())
			before := settled(w, foreign)
			mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{
				Namespace: w.namespace, Name: "cache", Annotations: map[string]string{cachev1.AnnotationAdopt: tc.adopt},
			}}
			w.Expect(cluster.Create(w.ctx, mc)).To(gomega.Succeed())

			mc = w.reason("cache", cachev1.ReasonOwnershipConflict)

			message := meta.FindStatusCondition(mc.Status.Conditions, "Ready").Message
			w.Expect(message).To(gomega.ContainSubstring(tc.want))
			w.Expect(spelled(w, foreign)).To(gomega.Equal(before))
		})
	}
}
