package integration

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// managedObjects returns an empty object of each managed kind.
func managedObjects() []client.Object {
	return []client.Object{
		&appsv1.Deployment{}, &corev1.Service{}, &networkingv1.NetworkPolicy{}, &policyv1.PodDisruptionBudget{},
	}
}

// TestANamesakeGetsNothingThatIsNotForIt: after the operator has read an object, and before its write arrives, another
// client deletes the object and creates another one with the same name.
func TestANamesakeGetsNothingThatIsNotForIt(t *testing.T) {
	spec := func(spec string) func(*world) { return func(w *world) { w.patchSpec(spec) } }
	tests := map[string]struct {
		// provoke makes the operator write. request describes this write.
		provoke            func(w *world)
		request, parameter string

		namesake func(w *world) client.Object
		code     int
	}{
		"the status of another Memcached": {
			provoke: spec(`{"suspend":true}`), request: "patch memcacheds/cache/status",
			namesake: func(w *world) client.Object {
				return &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "cache"}}
			},
			code: 409,
		},
		"the fields of our Deployment": {
			provoke: spec(`{"threads":2}`), request: "patch deployments/cache",
			namesake: theirDeployment, code: 422,
		},
		"a field of our Deployment that is reverted": {
			provoke: func(w *world) { w.patch(&appsv1.Deployment{}, "cache", `{"spec":{"replicas":7}}`) },
			request: "patch deployments/cache", namesake: theirDeployment, code: 422,
		},
		"the fields of our Service": {
			provoke: spec(`{"service":{"metadata":{"annotations":{"example.com/a":"b"}}}}`), request: "patch services/cache",
			namesake: theirService, code: 422,
		},
		"a hold": {
			provoke: func(w *world) {
				w.patchSpec(`{"memory":"128Mi"}`)
				w.says("cache", "Pods replaced")
				w.patchSpec(`{"suspend":true}`)
			},
			request: "patch deployments/cache", parameter: "fieldManager=memcached-operator-pause", namesake: theirDeployment, code: 422,
		},
		"the end of our PodDisruptionBudget": {
			provoke: spec(`{"size":1}`), request: "delete poddisruptionbudgets/cache",
			namesake: theirBudget, code: 409,
		},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			w, at := newUpgradeWorld(t)
			w.startWith(nil, "--watch-namespaces="+w.namespace)
			w.memcached("cache", 2)
			w.ready("cache")
			reasons := w.reasons("cache")
			var namesake client.Object

			swap := at.during(tc.request, tc.parameter, func() {
				namesake = tc.namesake(w)
				former := namesake.DeepCopyObject().(client.Object)
				w.Expect(cluster.Delete(w.ctx, former)).To(gomega.Succeed())
				w.Expect(cluster.Create(w.ctx, namesake, client.FieldOwner("unowned"))).To(gomega.Succeed())
			}, func() {})
			tc.provoke(w)

			w.Eventually(swap).Should(gomega.Receive(gomega.Equal(tc.code)))
			w.continuesWithout(namesake)
			w.Expect(reasons()).NotTo(gomega.ContainElement(cachev1.ReasonInvalidSpec), "nothing is wrong with the spec")
			w.Expect(os.ReadFile(w.log)).NotTo(gomega.ContainSubstring("Reconciler error"), "the answer is a retry")
		})
	}
}

// continuesWithout waits until the operator has noticed the namesake. If the namesake is another client's object,
// continuesWithout deletes it. Then the cache must become ready.
func (w *world) continuesWithout(namesake client.Object) {
	w.t.Helper()
	switch namesake.(type) {
	case *cachev1.Memcached:
	case *policyv1.PodDisruptionBudget:
		w.quiet()
		w.Expect(cluster.Get(w.ctx, client.ObjectKeyFromObject(namesake), namesake)).To(gomega.Succeed())
	default:
		if get(w, "cache", &cachev1.Memcached{}).Spec.Suspend {
			w.patchSpec(`{"suspend":false}`)
		}
		w.reason("cache", cachev1.ReasonOwnershipConflict)
		w.Expect(cluster.Delete(w.ctx, namesake)).To(gomega.Succeed())
		// The deletion of an unowned object starts no reconciliation, so without this change the next one might begin only
		// after half a minute.
		w.patch(&cachev1.Memcached{}, "cache", `{"metadata":{"annotations":{"example.com/look":"again"}}}`)
	}
	w.ready("cache")
}

// writers returns the field managers of an object.
func (w *world) writers(object client.Object) []string {
	w.t.Helper()
	w.Expect(cluster.Get(w.ctx, client.ObjectKeyFromObject(object), object)).To(gomega.Succeed())
	var writers []string
	for _, entry := range object.GetManagedFields() {
		writers = append(writers, entry.Manager)
	}
	return writers
}

// theirDeployment returns a Deployment of another client that the operator caches because of its labels.
func theirDeployment(w *world) client.Object {
	deployment := deploymentLike(w.namespace, ourSelector)
	deployment.Labels = ourSelector
	return deployment
}

func theirService(w *world) client.Object {
	service := serviceLike(w.namespace, corev1.ClusterIPNone)
	service.Labels = ourSelector
	return service
}

func theirBudget(w *world) client.Object {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "cache", Labels: ourSelector},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "unowned"}}},
	}
}

// reasons returns a function that lists the reasons that the condition Ready has had since.
func (w *world) reasons(name string) func() []string {
	w.t.Helper()
	history := w.history(name)
	return func() (seen []string) {
		for _, status := range history() {
			if ready := meta.FindStatusCondition(status.Conditions, cachev1.ConditionReady); ready != nil {
				seen = append(seen, ready.Reason)
			}
		}
		return seen
	}
}

func TestAManagedObjectThatIsDeletedDuringAWriteIsCreatedAgain(t *testing.T) {
	w, at := newUpgradeWorld(t)
	w.startWith(nil, "--watch-namespaces="+w.namespace)
	w.memcached("cache", 1)
	w.ready("cache")
	reasons := w.reasons("cache")
	former := w.deployment("cache")
	gone := at.during("patch deployments/cache", "", func() {
		w.Expect(cluster.Delete(w.ctx, former.DeepCopy())).To(gomega.Succeed())
	}, func() {})
	w.patchSpec(`{"threads":2}`)
	w.Eventually(gone).Should(gomega.Receive(gomega.Equal(409)))
	w.ready("cache")
	w.Expect(w.deployment("cache").UID).NotTo(gomega.Equal(former.UID))
	w.Expect(reasons()).NotTo(gomega.ContainElement(cachev1.ReasonInvalidSpec))
	w.Expect(os.ReadFile(w.log)).NotTo(gomega.ContainSubstring("Reconciler error"))
}

// TestAStatusIsWrittenAgainAfterAChangeThatIsNoNews: a change to a finalizer makes the write of the status fail. The
// change itself starts no reconciliation, so the operator must try again by itself.
func TestAStatusIsWrittenAgainAfterAChangeThatIsNoNews(t *testing.T) {
	w, at := newUpgradeWorld(t)
	w.startWith(nil, "--watch-namespaces="+w.namespace)
	w.memcached("cache", 0)
	w.ready("cache")
	w.quiet()
	changed := at.during("patch memcacheds/cache/status", "", func() {
		w.patch(&cachev1.Memcached{}, "cache", `{"metadata":{"finalizers":["example.com/unowned"]}}`)
	}, func() {})
	w.patchSpec(`{"suspend":true}`)
	w.Eventually(changed).Should(gomega.Receive(gomega.Equal(409)))
	mc := eventually(w, "cache", &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool {
		return meta.IsStatusConditionTrue(mc.Status.Conditions, cachev1.ConditionSuspended)
	})
	w.Expect(mc.Finalizers).To(gomega.Equal([]string{"example.com/unowned"}))
	w.Expect(os.ReadFile(w.log)).NotTo(gomega.ContainSubstring("Reconciler error"))
	w.patch(mc, "cache", `{"metadata":{"finalizers":null}}`)
}

// TestABudgetWhoseStatusIsWrittenAtTheSameTimeIsDeletedImmediately: the disruption controller writes the status of a
// PodDisruptionBudget whenever a Pod is deleted, so the operator's deletion may conflict with such a write.
func TestABudgetWhoseStatusIsWrittenAtTheSameTimeIsDeletedImmediately(t *testing.T) {
	w, at := newUpgradeWorld(t)
	w.startWith(nil, "--watch-namespaces="+w.namespace)
	w.memcached("cache", 2)
	w.ready("cache")
	before := len(w.quiet())
	changed := at.during("delete poddisruptionbudgets/cache", "", func() {
		w.patch(&policyv1.PodDisruptionBudget{}, "cache", `{"metadata":{"annotations":{"example.com/changed":"yes"}}}`)
	}, func() {})
	w.patchSpec(`{"size":1}`)
	w.Eventually(changed).Should(gomega.Receive(gomega.Equal(409)))
	w.ready("cache")
	var asked []string
	for _, request := range w.quiet()[before:] {
		if request != "patch memcacheds/status" {
			asked = append(asked, request)
		}
	}
	// The disruption controller may cause further conflicts.
	again := []string{"delete poddisruptionbudgets (failed)", "get poddisruptionbudgets"}
	for len(asked) > 4 && slices.Equal(asked[3:5], again) {
		asked = slices.Delete(asked, 3, 5)
	}
	want := slices.Concat([]string{"patch deployments"}, again, []string{"delete poddisruptionbudgets"})
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	w.Expect(os.ReadFile(w.log)).NotTo(gomega.ContainSubstring("Reconciler error"))
}

// TestAManagedObjectThatAnotherControllerTakesDuringAWriteIsLeftAlone: the operator owned the object when it read it.
func TestAManagedObjectThatAnotherControllerTakesDuringAWriteIsLeftAlone(t *testing.T) {
	tests := map[string]struct {
		spec, request string
		code          int
		reason        string
	}{
		"before it is deleted": {
			spec: `{"size":1}`, request: "delete poddisruptionbudgets/cache", code: 409,
			reason: cachev1.ReasonAllPodsReady,
		},
		"before it is written": {
			spec: `{"disruption":{"maxUnavailable":"50%"}}`, request: "patch poddisruptionbudgets/cache", code: 422,
			reason: cachev1.ReasonOwnershipConflict,
		},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			w, at := newUpgradeWorld(t)
			w.startWith(nil, "--watch-namespaces="+w.namespace)
			w.memcached("cache", 2)
			w.ready("cache")
			reasons := w.reasons("cache")
			owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "owner"}}
			w.Expect(cluster.Create(w.ctx, owner)).To(gomega.Succeed())
			budget := &policyv1.PodDisruptionBudget{}
			taken := at.during(tc.request, "", func() {
				w.patch(budget, "cache", fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap",`+
					`"name":"owner","uid":%q,"controller":true}]}}`, owner.UID))
			}, func() {})
			w.patchSpec(tc.spec)
			w.Eventually(taken).Should(gomega.Receive(gomega.Equal(tc.code)))
			w.reason("cache", tc.reason)
			w.quiet()
			w.Expect(metav1.IsControlledBy(get(w, "cache", budget), owner)).To(gomega.BeTrue())
			w.Expect(budget.Spec.MaxUnavailable.String()).To(gomega.Equal("1"))
			w.Expect(reasons()).NotTo(gomega.ContainElement(cachev1.ReasonInvalidSpec))
			w.Expect(os.ReadFile(w.log)).NotTo(gomega.ContainSubstring("Reconciler error"))
		})
	}
}
