package integration

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"

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

// TestNothingThatOthersWriteInTheMetadataOfManagedObjectsStopsReconciling, or makes the operator write for ever.
func TestNothingThatOthersWriteInTheMetadataOfManagedObjectsStopsReconciling(t *testing.T) {
	tests := map[string]struct {
		manager  string
		metadata string
	}{
		"what once was the annotation of a held rollout": {metadata: `{"annotations":{"cache.example.com/rollout-held":"true"}}`},
		"another hash of what was applied":               {metadata: `{"annotations":{"cache.example.com/applied-hash":"0"}}`},
		"no annotations":                                 {metadata: `{"annotations":null}`},
		"no labels":                                      {metadata: `{"labels":null}`},
		"no owner":                                       {metadata: `{"ownerReferences":null}`},
		"an owner that is no controller":                 {metadata: `{"ownerReferences":[OWNED]}`},
		"another owner, too":                             {metadata: `{"ownerReferences":[CONTROLLER,OTHER]}`},
		"a finalizer":                                    {metadata: `{"finalizers":["example.com/unowned"]}`},
		"no record of who set its fields":                {metadata: `{"managedFields":[{}]}`},
		"a consent to another client":                    {metadata: `{"annotations":{"cache.example.com/adopt-by":"other"}}`},
		"fields in the name of our hold":                 {manager: "memcached-operator-pause", metadata: `{"annotations":{"example.com/a":"b"}}`},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			w := newWorld(t)
			mc := w.memcached("cache", 2)
			w.ready("cache")
			w.quiet()
			metadata := strings.NewReplacer(w.owners(mc)...).Replace(tc.metadata)
			raw := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":`+metadata+`}`))
			manager := client.FieldOwner(cmp.Or(tc.manager, "another-client"))
			for _, child := range managedObjects() {
				w.Expect(cluster.Patch(w.ctx, get(w, "cache", child), raw, manager)).To(gomega.Succeed(), "%T", child)
			}
			w.quiet() // The operator stops writing.

			w.patchSpec(`{"threads":2,"service":{"metadata":{"annotations":{"example.com/a":"c"}}},"disruption":{"maxUnavailable":"50%"},` +
				`"networkPolicy":{"from":[{"podSelector":{}}]}}`)
			w.ready("cache")
			w.Expect(w.deployment("cache").Spec.Template.Spec.Containers[0].Args).To(gomega.ContainElement("--threads=2"))
			w.Expect(get(w, "cache", &corev1.Service{}).Annotations).To(gomega.HaveKeyWithValue("example.com/a", "c"))
			w.Expect(get(w, "cache", &policyv1.PodDisruptionBudget{}).Spec.MaxUnavailable.String()).To(gomega.Equal("50%"))
			w.Expect(get(w, "cache", &networkingv1.NetworkPolicy{}).Spec.Ingress[0].From).To(gomega.HaveLen(1))
			for _, child := range managedObjects() {
				w.Expect(metav1.IsControlledBy(get(w, "cache", child), mc)).To(gomega.BeTrue(), "%T", child)
				w.Expect(child.GetLabels()).To(gomega.HaveKeyWithValue("memcached_cr", "cache"), "%T", child)
			}
			w.quiet()
		})
	}
}

// TestDriftByAFieldThatExcludesAnOwnedOneIsReverted: another client sets a field with which the API server refuses the
// owned field.
func TestDriftByAFieldThatExcludesAnOwnedOneIsReverted(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 2)
	w.ready("cache")
	w.patch(&policyv1.PodDisruptionBudget{}, "cache", `{"spec":{"maxUnavailable":null,"minAvailable":2}}`)
	w.patch(&corev1.Service{}, "cache",
		`{"spec":{"type":"ExternalName","externalName":"example.com","clusterIP":"","clusterIPs":null}}`)
	eventually(w, "cache", &policyv1.PodDisruptionBudget{}, func(budget *policyv1.PodDisruptionBudget) bool {
		return budget.Spec.MinAvailable == nil && budget.Spec.MaxUnavailable.String() == "1"
	})
	eventually(w, "cache", &corev1.Service{}, func(service *corev1.Service) bool {
		return service.Spec.Type == corev1.ServiceTypeClusterIP && service.Spec.ClusterIP == corev1.ClusterIPNone
	})
	w.quiet()
	w.reason("cache", cachev1.ReasonAllPodsReady)

	// Now another client does the same while the operator does not run, and the spec changes, too.
	w.stop()
	w.patch(&policyv1.PodDisruptionBudget{}, "cache", `{"spec":{"maxUnavailable":null,"minAvailable":2}}`)
	w.patchSpec(`{"disruption":{"maxUnavailable":"50%"}}`)
	w.start()
	eventually(w, "cache", &policyv1.PodDisruptionBudget{}, func(budget *policyv1.PodDisruptionBudget) bool {
		return budget.Spec.MinAvailable == nil && budget.Spec.MaxUnavailable.String() == "50%"
	})
	w.reason("cache", cachev1.ReasonAllPodsReady)
}

// owners returns pairs of a placeholder and an owner reference: to the Memcached, with and without controller, and to
// another object.
func (w *world) owners(mc *cachev1.Memcached) []string {
	w.t.Helper()
	other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "other"}}
	w.Expect(cluster.Create(w.ctx, other)).To(gomega.Succeed())
	owned := metav1.OwnerReference{APIVersion: "cache.example.com/v1", Kind: "Memcached", Name: "cache", UID: mc.UID}
	controller := owned
	controller.Controller = new(true)
	var owners []string
	for name, owner := range map[string]metav1.OwnerReference{
		"OWNED": owned, "CONTROLLER": controller,
		"OTHER": {APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: other.UID},
	} {
		content, err := json.Marshal(owner)
		w.Expect(err).NotTo(gomega.HaveOccurred())
		owners = append(owners, name, string(content))
	}
	return owners
}

// TestAnOwnerReferenceThatAnotherClientRemovesComesBack: the operator restores it and reports this in an event. The
// cache is Ready all the time.
func TestAnOwnerReferenceThatAnotherClientRemovesComesBack(t *testing.T) {
	w := newWorld(t)
	mc := w.memcached("cache", 2)
	w.ready("cache")
	reasons := w.reasons("cache")
	w.patch(&appsv1.Deployment{}, "cache", `{"metadata":{"ownerReferences":null}}`)
	eventually(w, "cache", &appsv1.Deployment{}, func(d *appsv1.Deployment) bool { return metav1.IsControlledBy(d, mc) })
	w.Eventually(func() []string { return w.notes("DriftCorrected") }).Should(gomega.ContainElement(gomega.And(
		gomega.HavePrefix(`Deployment "cache": drift reverted`), gomega.MatchRegexp(`\.metadata\.ownerReferences .* -> removed by`))))
	w.quiet()
	w.Expect(reasons()).To(gomega.HaveEach(cachev1.ReasonAllPodsReady))
}

// TestFieldManagerConflictWithAClientThatKeepsRemovingTheOwnerReference: the operator does not restore it for ever.
func TestFieldManagerConflictWithAClientThatKeepsRemovingTheOwnerReference(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	w.ready("cache")
	w.Eventually(func() string {
		service := get(w, "cache", &corev1.Service{})
		if len(service.OwnerReferences) > 0 {
			w.patch(service, "cache", `{"metadata":{"ownerReferences":null}}`)
		}
		ready := meta.FindStatusCondition(get(w, "cache", &cachev1.Memcached{}).Status.Conditions, cachev1.ConditionReady)
		return ready.Reason
	}).Should(gomega.Equal(cachev1.ReasonFieldManagerConflict))
	w.says("cache", `Service "cache": another client keeps overwriting fields: .metadata.ownerReferences`)
}
