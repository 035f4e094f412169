package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/docs"
)

// writtenFor is an annotation that cert-manager sets on each Secret that it writes.
const writtenFor = "cert-manager.io/certificate-name"

// installCertManager makes the API server serve the kinds of cert-manager, without its controllers.
func installCertManager(t *testing.T) (remove func(*world)) {
	t.Helper()
	files, err := docs.CertManagerCRDs(t.Context(), repository)
	if err != nil {
		t.Fatal(err)
	}
	installed, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{Paths: files, ErrorIfPathMissing: true})
	if err != nil {
		t.Fatal(err)
	}
	return func(w *world) {
		w.t.Helper()
		for _, definition := range installed {
			bare := &unstructured.Unstructured{}
			bare.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
			bare.SetName(definition.Name)
			w.Expect(cluster.Delete(w.ctx, bare)).To(gomega.Succeed())
			w.Eventually(func() error { // The CRD can be installed again only once it is deleted.
				return cluster.Get(w.ctx, client.ObjectKeyFromObject(bare), bare)
			}).Should(gomega.Satisfy(apierrors.IsNotFound))
		}
		w.Eventually(func() bool {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "CertificateList"})
			return apierrors.IsNotFound(cluster.List(w.ctx, list)) || meta.IsNoMatchError(cluster.List(w.ctx, list))
		}).Should(gomega.BeTrue())
	}
}

func newCertificate() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"})
	return object
}

// withIssuer creates a Memcached with an issuer.
func (w *world) withIssuer(name string, change ...func(*cachev1.MemcachedSpec)) {
	w.t.Helper()
	spec := cachev1.MemcachedSpec{TLS: &cachev1.TLS{IssuerRef: &cachev1.IssuerRef{Name: "ca"}}}
	for _, change := range change {
		change(&spec)
	}
	w.create(name, spec)
}

// hosts returns the names for which a certificate is requested.
func (w *world) hosts(name string) []string {
	w.t.Helper()
	hosts, _, _ := unstructured.NestedStringSlice(get(w, name, newCertificate()).Object, "spec", "dnsNames")
	return hosts
}

// issue writes the Secret of a cache, as cert-manager does.
func (w *world) issue(name string) {
	w.t.Helper()
	w.secret(name+"-tls", certificateFor(w.t, w.hosts(name)...))
	w.patch(&corev1.Secret{}, name+"-tls", `{"metadata":{"annotations":{"`+writtenFor+`":"`+name+`"}}}`)
}

func (w *world) hasNoCertificate(name string) {
	w.t.Helper()
	err := cluster.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, newCertificate())
	w.Expect(err).To(gomega.Satisfy(apierrors.IsNotFound))
}

// TestCertificateUnavailableUntilTheClusterHasCertManager does not run at the same time as other tests, because these
// need cert-manager's kinds.
func TestCertificateUnavailableUntilTheClusterHasCertManager(t *testing.T) {
	remove := installCertManager(t)
	w := emptyWorld(t, operatorKubeconfig)
	remove(w)
	w.start()
	w.withIssuer("cache")
	mc := w.reason("cache", cachev1.ReasonCertificateUnavailable)
	want := `spec.tls.issuerRef "ca" needs cert-manager, and the cluster does not have its API cert-manager.io/v1: ` +
		`install cert-manager, or remove spec.tls.issuerRef and create the Secret "cache-tls"`
	if diff := cmp.Diff(want, meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady).Message); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	w.Expect(w.pods("cache")).To(gomega.BeEmpty())

	installCertManager(t)
	w.reason("cache", cachev1.ReasonSecretNotFound)
	w.issue("cache")
	w.ready("cache")
	pods := w.uids("cache")

	remove(w)
	w.reason("cache", cachev1.ReasonCertificateUnavailable)
	w.patchSpec(`{"size":2}`)
	w.Eventually(func() int { return len(w.uids("cache")) }).Should(gomega.Equal(2), "the rest of the spec is applied")
	w.Expect(w.uids("cache")).To(gomega.ContainElements(pods))

	installCertManager(t)
	w.ready("cache")
	w.Expect(w.hosts("cache")).NotTo(gomega.BeEmpty())
}

func TestACacheWithAnIssuerRequestsItsCertificate(t *testing.T) {
	w := newSlotWorld(t)
	installCertManager(t)
	w.withIssuer("cache", func(s *cachev1.MemcachedSpec) {
		s.Size, s.Slots, s.Discovery = new(int32(2)), &cachev1.Slots{Mode: cachev1.SlotsClusterIP}, &cachev1.Discovery{}
	})
	w.reason("cache", cachev1.ReasonSecretNotFound)
	w.says("cache", `the Secret "cache-tls" does not exist yet: cert-manager has to create it, with the Issuer "ca"`)
	w.Expect(w.pods("cache")).To(gomega.BeEmpty())
	names := func(cache ...string) (all []string) {
		for _, name := range cache {
			all = append(all, name+"."+w.namespace+".svc", name+"."+w.namespace+".svc.cluster.local")
		}
		return all
	}
	two := names("cache", "cache-discovery", "*.cache-slots", "cache-0", "cache-1")
	spec := map[string]any{
		"secretName": "cache-tls", "usages": []any{"server auth"}, "privateKey": map[string]any{"rotationPolicy": "Always"},
		"issuerRef": map[string]any{"name": "ca", "kind": "Issuer", "group": "cert-manager.io"}, "dnsNames": anything(two),
	}
	certificate := get(w.world, "cache", newCertificate())
	if diff := cmp.Diff(spec, certificate.Object["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	w.Expect(metav1.GetControllerOf(certificate).Name).To(gomega.Equal("cache"))
	w.patchStatus(certificate, `{"conditions":[{"type":"Ready","status":"False","reason":"DoesNotExist","message":"Issuing"}]}`)
	w.says("cache", `(Certificate "cache": DoesNotExist: Issuing). No Pods are created until then`)

	w.issue("cache")
	mc := w.served("cache")
	w.Expect(meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionCertificateIncomplete)).To(gomega.BeNil())
	pods, before := w.uids("cache"), len(w.quiet())
	w.Expect(w.quiet()[before:]).To(gomega.BeEmpty(), "requests at rest")

	w.patchSpec(`{"size":3}`)
	w.served("cache")
	w.Eventually(func() []string { return w.hosts("cache") }).Should(gomega.Equal(append(two, names("cache-2")...)))
	eventually(w.world, "cache", mc, func(mc *cachev1.Memcached) bool {
		missing := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionCertificateIncomplete)
		return missing != nil && strings.Contains(missing.Message, `wait until cert-manager has issued the Certificate "cache" again`)
	})
	w.issue("cache")
	w.isComplete(mc)

	w.patch(newCertificate(), "cache", `{"spec":{"dnsNames":["example.com"]}}`)
	w.Eventually(func() []string { return w.hosts("cache") }).ShouldNot(gomega.ContainElement("example.com"), "drift is reverted")

	w.stop() // An operator that starts later finds the Certificate, too.
	w.patchSpec(`{"tls":{"issuerRef":null,"secretName":"cache-tls"}}`)
	w.start()
	isDeleted := func() bool {
		return apierrors.IsNotFound(cluster.Get(w.ctx, client.ObjectKeyFromObject(certificate), newCertificate()))
	}
	w.Eventually(isDeleted).Should(gomega.BeTrue())
	eventually(w.world, "cache", mc, func(mc *cachev1.Memcached) bool { return mc.Status.Certificate == "" })
	// This Certificate is like one that the operator created late, for a spec that had already changed, so no status names
	// it.
	certificate.SetUID("")
	certificate.SetResourceVersion("")
	certificate.SetManagedFields(nil)
	w.Expect(cluster.Create(w.ctx, certificate)).To(gomega.Succeed())
	w.Eventually(isDeleted).Should(gomega.BeTrue())
	get(w.world, "cache-tls", &corev1.Secret{})
	w.Expect(w.uids("cache")).To(gomega.ContainElements(pods), "no Pod is replaced")
}

func TestOwnershipConflictKeepsTheSecretsAndNamesOfOthers(t *testing.T) {
	w := newWorld(t)
	installCertManager(t)
	w.secret("another", certificateFor(t, "another"))
	w.withIssuer("secret", func(s *cachev1.MemcachedSpec) { s.TLS.SecretName = "another" })
	w.reason("secret", cachev1.ReasonOwnershipConflict)
	w.says("secret", `Secret "another" may belong to another owner`)
	w.hasNoCertificate("secret")
	w.patch(&corev1.Secret{}, "another", `{"metadata":{"annotations":{"`+writtenFor+`":"secret"}}}`)
	w.ready("secret")
	w.Expect(w.hosts("secret")).NotTo(gomega.BeEmpty())

	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "service"}}
	service.Spec.Ports = []corev1.ServicePort{{Port: 443}}
	w.Expect(cluster.Create(w.ctx, service)).To(gomega.Succeed())
	w.withIssuer("service")
	w.reason("service", cachev1.ReasonOwnershipConflict)
	w.hasNoCertificate("service")

	unowned := newCertificate()
	unowned.SetNamespace(w.namespace)
	unowned.SetName("unowned")
	unowned.Object["spec"] = map[string]any{"secretName": "unowned", "issuerRef": map[string]any{"name": "another-ca"}}
	w.Expect(cluster.Create(w.ctx, unowned)).To(gomega.Succeed())
	w.withIssuer("unowned")
	w.reason("unowned", cachev1.ReasonOwnershipConflict)
	if diff := cmp.Diff(unowned.Object, get(w, "unowned", newCertificate()).Object); diff != "" {
		t.Errorf("the Certificate of others (-before +after):\n%s", diff)
	}
}

func TestCertificateUnavailableNamesTheRightsThatAreMissing(t *testing.T) {
	t.Parallel()
	w := &slotWorld{world: emptyWorld(t, operatorKubeconfig)}
	w.take(slices.DeleteFunc(rulesWithoutSlots(w.world), func(rule rbacv1.PolicyRule) bool {
		return slices.Contains(rule.Resources, "certificates")
	}))
	w.start()
	w.withIssuer("cache")
	w.reason("cache", cachev1.ReasonCertificateUnavailable)
	w.says("cache", `spec.tls.issuerRef "ca" needs rights that this operator was installed without (get certificates, `+
		`list certificates, watch certificates, create certificates, patch certificates, delete certificates): `+
		`add these rights to the operator's role`)
}

func TestWithoutAnIssuerNothingIsAskedOfCertManager(t *testing.T) {
	w := newWorld(t)
	w.secret("tls", certificateFor(t, "cache."+w.namespace+".svc"))
	w.create("cache", cachev1.MemcachedSpec{TLS: &cachev1.TLS{SecretName: "tls"}})
	w.ready("cache")
	w.stop() // The audit log has a watch only once the watch has ended.
	for _, r := range audit.read() {
		if r.ObjectRef.Namespace == w.namespace && isOperators(r) && r.ObjectRef.Resource == "certificates" {
			t.Errorf("the operator requested: %s", describe(r))
		}
	}
}

// patchStatus writes a status, as cert-manager does.
func (w *world) patchStatus(object client.Object, status string) {
	w.t.Helper()
	raw := client.RawPatch("application/merge-patch+json", []byte(`{"status":`+status+`}`))
	w.Expect(cluster.Status().Patch(w.ctx, object, raw)).To(gomega.Succeed())
}

func anything(texts []string) (values []any) {
	for _, text := range texts {
		values = append(values, text)
	}
	return values
}
