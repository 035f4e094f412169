package integration

import (
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/example-inc/memcached-operator/internal/testing/install"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestAnOwnerReferenceNeedsARightOnFinalizersWhereThatIsEnforced has its own API server, with an admission plugin of
// OpenShift. With this plugin, a client that sets an owner reference with blockOwnerDeletion needs a right on the
// finalizers of the owner and, for an existing object, the right to delete this object.
func TestAnOwnerReferenceNeedsARightOnFinalizersWhereThatIsEnforced(t *testing.T) {
	t.Parallel()
	g, ctx := gomega.NewWithT(t), t.Context()
	env := &envtest.Environment{BinaryAssetsDirectory: os.Getenv("KUBEBUILDER_ASSETS")}
	env.ControlPlane.GetAPIServer().Configure().Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
	admin, err := env.Start()
	t.Cleanup(func() { _ = env.Stop() })
	g.Expect(err).NotTo(gomega.HaveOccurred())
	kube, err := install.NewClient(admin)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(install.Manifests(ctx, admin, kube, repository, "Deployment")).To(gomega.Succeed())
	asOperator, err := install.Connect(ctx, admin, kube)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	operator, err := install.NewClient(asOperator)
	g.Expect(err).NotTo(gomega.HaveOccurred())

	mc := &cachev1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: install.Namespace, Name: "cache"}}
	g.Expect(kube.Create(ctx, mc)).To(gomega.Succeed())
	create := func() error {
		reference := *metav1.NewControllerRef(mc, cachev1.GroupVersion.WithKind("Memcached"))
		return operator.Create(ctx, &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: mc.Namespace, GenerateName: "cache-", OwnerReferences: []metav1.OwnerReference{reference},
			},
			Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone},
		}, client.DryRunAll)
	}
	g.Eventually(create).Should(gomega.Succeed())

	orphan := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: mc.Namespace, Name: "orphan"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "orphan"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "orphan"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "memcached", Image: "memcached"}}},
			},
		},
	}
	g.Expect(kube.Create(ctx, orphan)).To(gomega.Succeed())
	adopt := func() error {
		adopted := orphan.DeepCopy()
		adopted.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(mc, cachev1.GroupVersion.WithKind("Memcached"))}
		return operator.Patch(ctx, adopted, client.MergeFrom(orphan), client.DryRunAll)
	}
	g.Expect(adopt()).To(gomega.Succeed())

	role := &rbacv1.ClusterRole{}
	g.Expect(kube.Get(ctx, client.ObjectKey{Name: install.Role}, role)).To(gomega.Succeed())
	mayNotDelete := role.DeepCopy()
	for i, rule := range role.Rules {
		if slices.Contains(rule.Resources, "deployments") {
			mayNotDelete.Rules[i].Verbs = slices.DeleteFunc(rule.DeepCopy().Verbs, func(verb string) bool { return verb == "delete" })
		}
	}
	g.Expect(kube.Update(ctx, mayNotDelete)).To(gomega.Succeed())
	g.Eventually(adopt).Should(gomega.Satisfy(apierrors.IsForbidden), "an adoption without the right to delete: see docs/migrating.md")
	role.ResourceVersion = mayNotDelete.ResourceVersion

	const right = "memcacheds/finalizers"
	var lost []string
	role.Rules = slices.DeleteFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
		if slices.Contains(rule.Resources, right) {
			lost = append(lost, rule.Resources...)
			return true
		}
		return false
	})
	if diff := cmp.Diff([]string{right}, lost); diff != "" {
		t.Fatalf("resources of the rule (-want +got):\n%s", diff)
	}
	g.Expect(kube.Update(ctx, role)).To(gomega.Succeed())
	g.Eventually(create).Should(gomega.Satisfy(apierrors.IsForbidden), "without the right on finalizers")
}
