package integration

import (
	"testing"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestMetadataReachesEveryObjectButThePodsAndLeavesThemAgain(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 2)
	w.ready("cache")
	w.patchSpec(`{"commonMetadata":{"labels":{"team":"shop","app.kubernetes.io/part-of":"shop"},"annotations":{"example.com/a":"b"}},
		"service":{"metadata":{"labels":{"team":"network"}}}}`)
	for kind, object := range map[string]client.Object{
		"Deployment": &appsv1.Deployment{}, "Service": &corev1.Service{},
		"NetworkPolicy": &networkingv1.NetworkPolicy{}, "PodDisruptionBudget": &policyv1.PodDisruptionBudget{},
	} {
		team := "shop"
		if kind == "Service" {
			team = "network" // Its own wins.
		}
		eventually(w, "cache", object, func(o client.Object) bool {
			return o.GetLabels()["team"] == team && o.GetLabels()["app.kubernetes.io/part-of"] == "shop" &&
				o.GetLabels()["memcached_cr"] == "cache" && o.GetAnnotations()["example.com/a"] == "b"
		})
	}
	w.ready("cache")
	w.Expect(w.pods("cache")[0].Labels).NotTo(gomega.HaveKey("team"))
	w.Expect(w.rollouts("cache")).To(gomega.Equal(1), "no Pod is replaced for it")

	w.patchSpec(`{"commonMetadata":null,"service":null}`)
	for _, object := range []client.Object{
		&appsv1.Deployment{}, &corev1.Service{}, &networkingv1.NetworkPolicy{}, &policyv1.PodDisruptionBudget{},
	} {
		eventually(w, "cache", object, func(o client.Object) bool {
			_, labelled := o.GetLabels()["team"]
			_, annotated := o.GetAnnotations()["example.com/a"]
			return !labelled && !annotated && o.GetLabels()["memcached_cr"] == "cache"
		})
	}
	w.ready("cache")
	w.Expect(w.rollouts("cache")).To(gomega.Equal(1))
}

// TestTheIPFamiliesOfTheServiceAreThoseOfTheSpec, in a cluster with IPv4 alone.
func TestTheIPFamiliesOfTheServiceAreThoseOfTheSpec(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 0)
	w.ready("cache")
	policyIs := func(want corev1.IPFamilyPolicy) func(*corev1.Service) bool {
		return func(s *corev1.Service) bool { return s.Spec.IPFamilyPolicy != nil && *s.Spec.IPFamilyPolicy == want }
	}
	service := eventually(w, "cache", &corev1.Service{}, policyIs("SingleStack"))
	w.patchSpec(`{"service":{"ipFamilyPolicy":"PreferDualStack","ipFamilies":["IPv4"]}}`)
	eventually(w, "cache", service, policyIs("PreferDualStack"))
	w.ready("cache")

	w.patchSpec(`{"service":{"ipFamilyPolicy":"RequireDualStack"}}`)
	w.reason("cache", cachev1.ReasonInvalidSpec)
	w.says("cache", "spec.ipFamilyPolicy")
	w.patchSpec(`{"service":{"ipFamilyPolicy":"SingleStack","ipFamilies":["IPv6"]}}`)
	w.reason("cache", cachev1.ReasonInvalidSpec)
	w.says("cache", "spec.ipFamilies")
	w.patchSpec(`{"service":null}`)
	w.ready("cache")
	w.Expect(get(w, "cache", service).Spec.IPFamilies).To(gomega.Equal([]corev1.IPFamily{"IPv4"}))
	w.quiet()
}

func TestARuntimeClassReachesThePods(t *testing.T) {
	w := newWorld(t)
	class := &nodev1.RuntimeClass{Handler: "sandbox"}
	class.Name = w.namespace
	w.Expect(cluster.Create(w.ctx, class)).To(gomega.Succeed())
	w.memcached("cache", 1)
	w.patchSpec(`{"placement":{"runtimeClassName":"` + class.Name + `"}}`)
	w.ready("cache")
	w.Expect(*w.pods("cache")[0].Spec.RuntimeClassName).To(gomega.Equal(class.Name))
	w.patchSpec(`{"placement":null}`)
	w.ready("cache")
	w.Expect(w.deployment("cache").Spec.Template.Spec.RuntimeClassName).To(gomega.BeNil())
}
