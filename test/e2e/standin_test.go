//go:build e2e

package e2e

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// writes is a function that writes a Secret in the same way as a controller of another project, which creates Secrets
// from a store or from Git.
type writes func(t *testing.T, secret *corev1.Secret)

// asExternalSecrets creates or updates a Secret, as the field manager of an ExternalSecret, which owns it.
func asExternalSecrets(t *testing.T, secret *corev1.Secret) {
	t.Helper()
	written := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: secret.Namespace, Name: secret.Name}}
	owner := ownerOf(t, secret)
	manager := client.WithFieldOwner(c.Client, "externalsecrets.external-secrets.io/"+secret.Name)
	result, err := controllerutil.CreateOrUpdate(t.Context(), manager, written, func() error {
		written.Type, written.Data = secret.Type, secret.Data
		written.Labels = map[string]string{"reconcile.external-secrets.io/managed": "true"}
		written.Annotations = map[string]string{"reconcile.external-secrets.io/data-hash": time.Now().String()}
		return controllerutil.SetControllerReference(owner, written, c.Client.Scheme())
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("Secret %s is %s as by External Secrets", secret.Name, result)
}

// asSealedSecrets creates a Secret that a SealedSecret owns. The Secret must not exist yet.
func asSealedSecrets(t *testing.T, secret *corev1.Secret) {
	t.Helper()
	secret = secret.DeepCopy()
	if err := controllerutil.SetControllerReference(ownerOf(t, secret), secret, c.Client.Scheme()); err != nil {
		t.Fatal(err)
	}
	if err := c.Client.Create(t.Context(), secret, client.FieldOwner("controller")); err != nil {
		t.Fatal(err)
	}
}

// asFlux applies a Secret by server-side apply, and takes over fields of other field managers, as Flux does with a
// Secret that is encrypted with SOPS.
func asFlux(t *testing.T, secret *corev1.Secret) {
	t.Helper()
	applied := corev1ac.Secret(secret.Name, secret.Namespace).WithType(secret.Type).WithData(secret.Data).
		WithLabels(map[string]string{"kustomize.toolkit.fluxcd.io/name": "caches"})
	err := c.Client.Apply(t.Context(), applied, client.FieldOwner("kustomize-controller"), client.ForceOwnership)
	if err != nil {
		t.Fatal(err)
	}
}

// ownerOf creates the owner of the Secret: a ConfigMap instead of the ExternalSecret or the SealedSecret.
func ownerOf(t *testing.T, secret *corev1.Secret) *corev1.ConfigMap {
	t.Helper()
	owner := &corev1.ConfigMap{}
	owner.Namespace, owner.Name = secret.Namespace, "source-of-"+secret.Name
	_, err := controllerutil.CreateOrUpdate(t.Context(), c.Client, owner, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return owner
}

// losesItsSecrets deletes the owners of both Secrets, and waits until the garbage collector has deleted the Secrets.
func (r *rotation) losesItsSecrets() {
	r.t.Helper()
	for _, name := range []string{usersSecret, serverSecret} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.key.Namespace, Name: name}}
		r.Expect(c.Client.Delete(r.t.Context(), ownerOf(r.t, secret))).To(gomega.Succeed())
		r.Eventually(func() bool {
			return apierrors.IsNotFound(c.Client.Get(r.t.Context(), client.ObjectKeyFromObject(secret), secret))
		}).Should(gomega.BeTrue(), "Secret %s is owned", name)
	}
	r.says(cachev1.ReasonSecretNotFound, "spec.auth.secretName")
	r.says(cachev1.ReasonSecretNotFound, "spec.tls.secretName")
}
