package integration

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// deploymentLike returns a Deployment of another client with this selector, which may be the operator's.
func deploymentLike(namespace string, selector map[string]string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cache"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: selector},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: selector},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "unowned", Image: "registry.example.com/unowned:1"}}},
			},
		},
	}
}

func serviceLike(namespace string, clusterIP string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cache"},
		Spec: corev1.ServiceSpec{
			ClusterIP: clusterIP,
			Selector:  map[string]string{"app": "memcached", "memcached_cr": "cache"},
			Ports:     []corev1.ServicePort{{Name: "memcached", Port: 11211, TargetPort: intstr.FromString("memcached")}},
		},
	}
}

// annotated returns a Deployment without an owner, with the operator's selector and an annotation.
func annotated(namespace, annotation, value string) client.Object {
	deployment := deploymentLike(namespace, ourSelector)
	deployment.Annotations = map[string]string{annotation: value}
	return deployment
}

// ownedBy makes a ConfigMap the owner of a Deployment.
func ownedBy(w *world, deployment client.Object, isController bool) client.Object {
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "their-owner"}}
	w.Expect(cluster.Create(w.ctx, owner)).To(gomega.Succeed())
	deployment.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, Controller: &isController,
	}})
	return deployment
}

var ourSelector = map[string]string{"app": "memcached", "memcached_cr": "cache"}

func TestOwnershipConflictLeavesTheObjectAsItIs(t *testing.T) {
	const consent = cachev1.AnnotationAdoptBy
	tests := map[string]struct {
		foreign func(w *world) client.Object
		message string
	}{
		"a Deployment of nobody's, with our selector": {
			foreign: func(w *world) client.Object { return deploymentLike(w.namespace, ourSelector) },
			message: `Deployment "cache" already exists and has no owner`,
		},
		"a Deployment of nobody's, with our labels on itself": {
			foreign: theirDeployment,
			message: `Deployment "cache" already exists and has no owner`,
		},
		"a Deployment that another controller owns": {
			foreign: func(w *world) client.Object { return ownedBy(w, deploymentLike(w.namespace, ourSelector), true) },
			message: `Deployment "cache" already exists and belongs to ConfigMap their-owner`,
		},
		"a Service with a cluster IP": {
			foreign: func(w *world) client.Object { return serviceLike(w.namespace, "") },
			message: `Service "cache" already exists and has no owner`,
		},
		"a Service that is just what we would make": {
			foreign: func(w *world) client.Object { return serviceLike(w.namespace, corev1.ClusterIPNone) },
			message: `Service "cache" already exists and has no owner`,
		},
		"a Deployment that consents to another Memcached": {
			foreign: func(w *world) client.Object { return annotated(w.namespace, consent, "other") }, message: "has no owner",
		},
		"a Deployment in which another client wrote what looks like our hash": {
			foreign: func(w *world) client.Object {
				return annotated(w.namespace, "cache.example.com/applied-hash", "0123456789abcdef")
			},
			message: "has no owner",
		},
		"a Deployment that consents, and has an owner": {
			foreign: func(w *world) client.Object { return ownedBy(w, annotated(w.namespace, consent, "cache"), false) },
			message: "belongs to ConfigMap their-owner",
		},
		"a Deployment that consents, and has another selector, which can't be changed": {
			foreign: func(w *world) client.Object {
				deployment := deploymentLike(w.namespace, map[string]string{"app": "unowned"})
				deployment.Annotations = map[string]string{consent: "cache"}
				return deployment
			},
			message: "has a different selector, which is immutable",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			foreign := tc.foreign(w)
			w.Expect(cluster.Create(w.ctx, foreign, client.FieldOwner("unowned"))).To(gomega.Succeed())

			w.memcached("cache", 2)
			mc := w.reason("cache", cachev1.ReasonOwnershipConflict)

			w.Expect(meta.IsStatusConditionTrue(mc.Status.Conditions, cachev1.ConditionStalled)).To(gomega.BeTrue())
			message := meta.FindStatusCondition(mc.Status.Conditions, "Ready").Message
			w.Expect(message).To(gomega.ContainSubstring(tc.message))

			w.Expect(cluster.Delete(w.ctx, foreign)).To(gomega.Succeed())
			w.Eventually(func() bool {
				mc := get(w, "cache", &cachev1.Memcached{})
				return meta.FindStatusCondition(mc.Status.Conditions, "Ready").Reason != cachev1.ReasonOwnershipConflict
			}, patience).Should(gomega.BeTrue(), "the conflict ends by itself once the object is deleted")
		})
	}
}

// spelled returns an object as text, exactly as the API server has it.
func spelled(w *world, object client.Object) string {
	w.t.Helper()
	w.Expect(cluster.Get(w.ctx, client.ObjectKeyFromObject(object), object)).To(gomega.Succeed())
	content, err := json.MarshalIndent(object, "", "  ")
	w.Expect(err).NotTo(gomega.HaveOccurred())
	return string(content)
}

// quiet waits until the operator has sent no request for more than a second, and returns all its requests so far.
func (w *world) quiet() []string {
	w.t.Helper()
	return w.quietIn(w.namespace)
}

// quietIn does the same as quiet, for another namespace that the operator serves.
func (w *world) quietIn(namespace string) []string {
	w.t.Helper()
	var last []string
	since := time.Now()
	w.Eventually(func() bool {
		requests := audit.requestsOf(w.t, namespace)
		if len(requests) != len(last) {
			last, since = requests, time.Now()
		}
		return time.Since(since) > time.Second
	}).Should(gomega.BeTrue())
	return last
}
