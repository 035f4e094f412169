package integration

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const openShiftsAPI = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: securitycontextconstraints.security.openshift.io}
spec:
  group: security.openshift.io
  scope: Cluster
  names: {plural: securitycontextconstraints, kind: SecurityContextConstraints}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`

// TestThePlatformFollowsTheAPIsOfOpenShiftWhileTheOperatorRuns does not run at the same time as other tests, because
// their operators would take the cluster for OpenShift, too.
func TestThePlatformFollowsTheAPIsOfOpenShiftWhileTheOperatorRuns(t *testing.T) {
	w := emptyWorld(t, clusterKubeconfig)
	w.startWith(nil)
	w.memcached("before", 2)
	w.ready("before")
	uids := w.uids("before")
	w.Expect(w.userOf("before")).To(gomega.HaveValue(gomega.Equal(int64(11211))))

	remove := w.installOpenShiftsAPI()
	w.waits("before", "platform Kubernetes -> OpenShift")
	w.memcached("during", 1)
	w.ready("during")
	w.Expect(w.userOf("during")).To(gomega.BeNil(), "OpenShift decides")

	remove()
	w.waits("before", "")
	w.waits("during", "platform OpenShift -> Kubernetes")
	w.memcached("after", 1)
	w.ready("after")
	w.Expect(w.userOf("after")).To(gomega.HaveValue(gomega.Equal(int64(11211))))

	w.Expect(w.uids("before")).To(gomega.Equal(uids))
	before := len(w.quiet())
	w.Expect(w.quiet()).To(gomega.HaveLen(before))
	log, err := os.ReadFile(w.log)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	if strings.Contains(string(log), "ERROR") || strings.Contains(string(log), `"level":"error"`) {
		t.Errorf("the operator complains:\n%s", log)
	}
}

func (w *world) userOf(name string) *int64 {
	return w.deployment(name).Spec.Template.Spec.SecurityContext.RunAsUser
}

// installOpenShiftsAPI makes the API server serve a kind of OpenShift, and returns a function that removes the kind
// again.
func (w *world) installOpenShiftsAPI() (remove func()) {
	w.t.Helper()
	definition := &unstructured.Unstructured{}
	w.Expect(yaml.Unmarshal([]byte(openShiftsAPI), &definition.Object)).To(gomega.Succeed())
	w.Expect(cluster.Create(w.ctx, definition)).To(gomega.Succeed())
	remove = func() {
		ctx := context.WithoutCancel(w.ctx) // w.ctx ends before the cleanup.
		w.Expect(client.IgnoreNotFound(cluster.Delete(ctx, definition))).To(gomega.Succeed())
		service := &unstructured.Unstructured{}
		service.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"})
		w.Eventually(func() bool {
			return apierrors.IsNotFound(cluster.Get(ctx, client.ObjectKey{Name: "v1.security.openshift.io"}, service))
		}).Should(gomega.BeTrue())
	}
	w.t.Cleanup(remove)
	return remove
}
