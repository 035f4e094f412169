package integration

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/crd"
)

// patchSpec changes the spec of the Memcached "cache".
func (w *world) patchSpec(spec string) {
	w.t.Helper()
	w.patch(&cachev1.Memcached{}, "cache", `{"spec":`+spec+`}`)
}

func (w *world) patch(object client.Object, name, patch string) {
	w.t.Helper()
	raw := client.RawPatch("application/merge-patch+json", []byte(patch))
	// Otherwise the API server ignores unknown fields, such as misspelled ones.
	strict := client.FieldValidation(metav1.FieldValidationStrict)
	w.Expect(cluster.Patch(w.ctx, get(w, name, object), raw, client.FieldOwner("another-client"), strict)).To(gomega.Succeed())
}

// testedElsewhere has the fields that change no object in this test, or that the API server does not remove.
var testedElsewhere = map[string]string{
	"spec.rollout.memoryChange": "resize_test.go",
	"spec.autoscaling":          "autoscaling_test.go",

	"spec.autoscaling.memory.mode":               "the same",
	"spec.autoscaling.memory.min":                "the same",
	"spec.autoscaling.memory.max":                "the same",
	"spec.autoscaling.memory.evictionAgeSeconds": "the same",
	"spec.autoscaling.memory.cooldownSeconds":    "the same",
	"spec.autoscaling.size.mode":                 "the same",
	"spec.autoscaling.size.min":                  "the same",
	"spec.autoscaling.size.max":                  "the same",
	"spec.autoscaling.size.evictionAgeSeconds":   "the same",
	"spec.autoscaling.size.cooldownSeconds":      "the same",
	"spec.autoscaling.quietDays":                 "usual_test.go",

	"spec.suspend":      "TestSuspendedPausesARolloutThatContinuesAfterwards",
	"spec.updatePolicy": "waves_test.go",
	"spec.slots":        "slots_test.go",

	"spec.binding.secretName": "binding_test.go",

	"spec.bootstrap.from.servers":         "bootstrap_test.go: it needs slots",
	"spec.bootstrap.from.clientHash":      "operator/internal/render/fields_test.go",
	"spec.bootstrap.from.tls.secretName":  "the same",
	"spec.bootstrap.from.auth.secretName": "the same",
	"spec.bootstrap.mode":                 "bootstrap_test.go",

	"spec.bootstrap.from.snapshot.name":                            "restore_test.go",
	"spec.bootstrap.from.snapshot.url":                             "the same",
	"spec.bootstrap.from.snapshot.credentials.secretName":          "the same",
	"spec.bootstrap.from.snapshot.credentials.serviceAccountName":  "operator/internal/render/snapshot_test.go",
	"spec.bootstrap.from.snapshot.persistentVolumeClaim.claimName": "the same",

	"spec.slots.mode":                "slots_test.go",
	"spec.slots.clientHash":          "slots_test.go: it changes how the size changes",
	"spec.slots.scaleOverlapSeconds": "the same",

	"spec.slots.handoff.mode":           "operator/internal/plan/slots_test.go: it changes how Pods with slots are replaced",
	"spec.slots.handoff.timeoutSeconds": "the same",
	"spec.slots.handoff.bytesPerSecond": "the same",

	"spec.service.ipFamilies":     "TestTheIPFamiliesOfTheServiceAreThoseOfTheSpec: this API server has one family",
	"spec.service.ipFamilyPolicy": "the same: the API server keeps it on a Service that exists",
}

// TestEveryFieldReachesTheClusterAndLeavesItAgain takes the fields from the CRD and their values from
// test/crd/every-field.yaml. operator/internal/render/testdata/fields.txt has the values that the objects get.
func TestEveryFieldReachesTheClusterAndLeavesItAgain(t *testing.T) {
	fields, err := crd.Fields(repository)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := crd.EveryField()
	if err != nil {
		t.Fatal(err)
	}
	settable, err := crd.SettableFields(repository)
	if err != nil {
		t.Fatal(err)
	}
	sandbox := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "sandbox"}, Handler: "sandbox"}
	if err := cluster.Create(t.Context(), sandbox); err != nil { // The API server refuses Pods with an unknown class.
		t.Fatal(err)
	}
	installCertManager(t)
	groups := map[string][]string{}
	for _, field := range settable {
		if testedElsewhere[field.Path] == "" {
			top := strings.Join(strings.Split(field.Path, ".")[:2], ".")
			groups[top] = append(groups[top], field.Path)
		}
	}
	for top, paths := range groups {
		t.Run(top, func(t *testing.T) {
			w := newWorld(t)
			w.allow("no hot loop") // Each field changes twice, as soon as the operator has applied the last change.
			pair := certificate(t, time.Time{})
			pair["ca.crt"] = pair["tls.crt"]
			for _, name := range []string{"tls", "cache-tls"} {
				w.secret(name, pair)
				w.patch(&corev1.Secret{}, name, `{"metadata":{"annotations":{"`+writtenFor+`":"cache"}}}`)
			}
			w.secret("users", map[string]string{"users": "ann:a"})
			account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "caches", Namespace: w.namespace}}
			w.Expect(cluster.Create(w.ctx, account)).To(gomega.Succeed())
			mc := w.memcached("cache", 2)
			w.ready("cache")
			for _, path := range paths {
				with, without := crd.Only(fields, spec, path)
				w.setSpec(mc, without)
				before := w.ownedSpecs("cache")
				w.setSpec(mc, with)
				if cmp.Equal(before, w.ownedSpecs("cache")) {
					t.Errorf("%s: no object changes", path)
				}
				w.setSpec(mc, without)
				if diff := cmp.Diff(before, w.ownedSpecs("cache")); diff != "" {
					t.Errorf("%s: what is left of it (-before +after):\n%s", path, diff)
				}
			}
		})
	}
}

// setSpec replaces the spec, and waits until the cache is ready. Without a size in values, the cache gets two Pods.
func (w *world) setSpec(mc *cachev1.Memcached, values map[string]any) {
	w.t.Helper()
	spec := cachev1.MemcachedSpec{Size: new(int32(2))}
	content, err := json.Marshal(values)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Expect(json.Unmarshal(content, &spec)).To(gomega.Succeed())
	w.Eventually(func() error {
		get(w, mc.Name, mc)
		mc.Spec = spec
		return cluster.Update(w.ctx, mc, client.FieldOwner("user"))
	}).Should(gomega.Succeed())
	w.ready(mc.Name)
}

// ownedSpecs returns the specs and labels of a cache's managed objects by their kinds, and the annotation from
// every-field.yaml.
func (w *world) ownedSpecs(name string) map[string]any {
	w.t.Helper()
	specs := map[string]any{}
	for kind, object := range map[string]client.Object{
		"Deployment": &appsv1.Deployment{}, "Service": &corev1.Service{},
		"NetworkPolicy": &networkingv1.NetworkPolicy{}, "PodDisruptionBudget": &policyv1.PodDisruptionBudget{},
		"Certificate": newCertificate(),
	} {
		err := cluster.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, object)
		if apierrors.IsNotFound(err) {
			continue
		}
		w.Expect(err).NotTo(gomega.HaveOccurred())
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		w.Expect(err).NotTo(gomega.HaveOccurred())
		specs[kind] = []any{content["spec"], object.GetLabels(), object.GetAnnotations()["example.com/contact"]}
	}
	return specs
}

// TestTheIPFamiliesOfTheServiceAreThoseOfTheSpec uses a cluster with IPv4 only.
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
