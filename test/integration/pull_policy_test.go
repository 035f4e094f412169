package integration

import (
	"testing"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
)

func TestThePullPolicyFollowsOnlyTheImage(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	w.ready("cache")
	is := func(want string) func(*appsv1.Deployment) bool {
		return func(d *appsv1.Deployment) bool {
			return string(d.Spec.Template.Spec.Containers[0].ImagePullPolicy) == want
		}
	}
	w.patchSpec(`{"image":"registry.example.com/memcached"}`)
	deployment := eventually(w, "cache", &appsv1.Deployment{}, is("Always"))
	w.Expect(string(deployment.Spec.Template.Spec.InitContainers[0].ImagePullPolicy)).To(gomega.Equal("IfNotPresent"))
	w.patchSpec(`{"image":"registry.example.com/memcached:1.6.45"}`)
	eventually(w, "cache", deployment, is("IfNotPresent"))
	w.ready("cache")

	generation := w.deployment("cache").Generation
	w.changedBy("kubectl-edit", &appsv1.Deployment{}, `{"spec":{"template":{"spec":{"containers":[{"name":"memcached","imagePullPolicy":"Always"}]}}}}`)
	eventually(w, "cache", deployment, func(d *appsv1.Deployment) bool {
		return d.Generation == generation+2 && is("IfNotPresent")(d)
	})
	w.ready("cache")
}
