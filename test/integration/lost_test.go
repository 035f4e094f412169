package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

const (
	disabled = `{"networkPolicy":{"mode":"Disabled"}}`

	// withoutLabel changes a label by which the operator's cache selects objects.
	withoutLabel = `{"metadata":{"labels":{"app":"memcached-other"}}}`
)

// mayNot makes the API server refuse an operation on NetworkPolicies, except the update that withoutLabel makes.
func (w *world) mayNot(operation admissionv1.OperationType) (allow func()) {
	w.t.Helper()
	const unless = `request.operation == "UPDATE" && object.metadata.labels["app"] == "memcached-other"`
	return w.refuse(operation, "networking.k8s.io", "networkpolicies", unless, func() error {
		policy := get(w, "cache", &networkingv1.NetworkPolicy{})
		if operation == admissionv1.Delete {
			return cluster.Delete(w.ctx, policy, client.DryRunAll)
		}
		policy.Labels["try"] = "it"
		return cluster.Update(w.ctx, policy, client.DryRunAll)
	})
}

// TestAnObjectThatLostItsLabelsIsDeletedOnceItIsNotDesired: an object without its labels is not in the operator's
// cache.
func TestAnObjectThatLostItsLabelsIsDeletedOnceItIsNotDesired(t *testing.T) {
	type damage struct {
		happens func(w *world)
		object  client.Object
	}
	tests := map[string]damage{
		"the labels could not be restored": {func(w *world) {
			w.mayNot(admissionv1.Update)
			w.changedBy("tool", &networkingv1.NetworkPolicy{}, withoutLabel)
			w.reason("cache", cachev1.ReasonApplyFailed)
			w.patchSpec(disabled)
		}, &networkingv1.NetworkPolicy{}},
		"it could not be deleted, and lost them then": {func(w *world) {
			allow := w.mayNot(admissionv1.Delete)
			w.patchSpec(disabled)
			w.reason("cache", cachev1.ReasonApplyFailed)
			w.changedBy("tool", &networkingv1.NetworkPolicy{}, withoutLabel)
			allow()
		}, &networkingv1.NetworkPolicy{}},
		"it could not be deleted, and lost them while no operator ran": {func(w *world) {
			allow := w.mayNot(admissionv1.Delete)
			w.patchSpec(disabled)
			w.reason("cache", cachev1.ReasonApplyFailed)
			w.stop()
			w.changedBy("tool", &networkingv1.NetworkPolicy{}, withoutLabel)
			allow()
			w.start()
		}, &networkingv1.NetworkPolicy{}},
		"no operator ran": {func(w *world) {
			w.stop()
			w.changedBy("tool", &policyv1.PodDisruptionBudget{}, withoutLabel)
			w.patchSpec(`{"size":1}`)
			w.start()
		}, &policyv1.PodDisruptionBudget{}},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			w := newWorld(t)
			w.memcached("cache", 2)
			w.ready("cache")
			get(w, "cache", tc.object)
			tc.happens(w)
			w.Eventually(func() bool {
				return apierrors.IsNotFound(cluster.Get(w.ctx, client.ObjectKeyFromObject(tc.object), tc.object))
			}).Should(gomega.BeTrue())
			w.ready("cache")
		})
	}
}

// TestAnObjectOfAnotherClientIsNotTakenForOneThatLostItsLabels: an object of another client has the name of an object
// that a former spec requested.
func TestAnObjectOfAnotherClientIsNotTakenForOneThatLostItsLabels(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 0)
	w.reason("cache", cachev1.ReasonScaledToZero)
	w.stop()
	former := get(w, "cache", &networkingv1.NetworkPolicy{})
	w.Expect(cluster.Delete(w.ctx, former)).To(gomega.Succeed())
	key := metav1.ObjectMeta{Namespace: w.namespace, Name: "cache", Annotations: former.Annotations}
	w.Expect(cluster.Create(w.ctx, &networkingv1.NetworkPolicy{ObjectMeta: key})).To(gomega.Succeed())
	w.patchSpec(disabled)
	w.start()
	w.reason("cache", cachev1.ReasonScaledToZero)
	w.quiet()
	get(w, "cache", &networkingv1.NetworkPolicy{})
}

// TestAnObjectThatTheOperatorDeletesIsNotReadAgain: the operator need not read an object that it deleted itself. It
// reads the object only if another client deleted it, or removed its labels.
func TestAnObjectThatTheOperatorDeletesIsNotReadAgain(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 0)
	w.reason("cache", cachev1.ReasonScaledToZero)
	before := len(w.quiet())
	w.patchSpec(disabled)
	w.reason("cache", cachev1.ReasonScaledToZero)
	want := []string{"delete networkpolicies", "patch memcacheds/status"}
	if diff := cmp.Diff(want, w.quiet()[before:]); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
