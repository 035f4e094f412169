package integration

import (
	"os"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestRollingOutInANamespaceThatIsBeingDeleted: the namespace controller does not run here, so the namespace stays in
// this state.
func TestRollingOutInANamespaceThatIsBeingDeleted(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 0)
	w.reason("cache", cachev1.ReasonScaledToZero)
	w.Expect(cluster.Delete(w.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})).To(gomega.Succeed())
	w.Eventually(func() bool {
		probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "probe"}}
		return apierrors.HasStatusCause(cluster.Create(w.ctx, probe, client.DryRunAll), corev1.NamespaceTerminatingCause)
	}).Should(gomega.BeTrue())
	before := len(w.quiet())

	w.Expect(cluster.Delete(w.ctx, w.deployment("cache"))).To(gomega.Succeed())
	w.reason("cache", cachev1.ReasonRollingOut)
	const want = `Deployment "cache" cannot be created: the namespace is being deleted`
	if got := w.message(); got != want {
		t.Errorf("the status says %q, want %q", got, want)
	}
	asked := w.quiet()[before:]
	// The operator may see the change to the status before its write is answered, and then reconciles once more.
	if count(asked, "patch deployments (failed)") > 2 || count(asked, "patch memcacheds/status") != 1 || len(asked) > 3 {
		t.Errorf("the operator tries again and again: %v", asked)
	}
	log, err := os.ReadFile(w.log)
	if err != nil || strings.Contains(string(log), `"level":"error"`) {
		t.Errorf("the log has an error (%v):\n%s", err, log)
	}
}
