package integration

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/certificates"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// mayBind gives the operator the least rights that a binding needs, on the Secrets with these names, as in
// docs/security.md. Without names, the rights are for all Secrets.
func (w *world) mayBind(names ...string) {
	w.t.Helper()
	w.lets("binding", []string{operatorUser, clusterOperatorUser}, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: names, Verbs: []string{"create", "patch", "delete"},
	})
}

// bound creates a Memcached of size 0 with users and a binding.
func (w *world) bound(binding string) {
	w.t.Helper()
	w.create("cache", cachev1.MemcachedSpec{
		Size: new(int32(0)), Auth: &cachev1.Auth{SecretName: "users"}, Binding: &cachev1.Binding{SecretName: binding},
	})
}

// binding waits until a Secret has these entries, among others.
func (w *world) binding(name string, want map[string]string) *corev1.Secret {
	w.t.Helper()
	return eventually(w, name, &corev1.Secret{}, func(secret *corev1.Secret) bool {
		for key, value := range want {
			if string(secret.Data[key]) != value {
				return false
			}
		}
		return true
	})
}

func (w *world) isDeleted(secret string) {
	w.t.Helper()
	key := client.ObjectKey{Namespace: w.namespace, Name: secret}
	w.Eventually(func() bool { return apierrors.IsNotFound(cluster.Get(w.ctx, key, &corev1.Secret{})) }).Should(gomega.BeTrue())
}

// bindingInStatus returns status.binding.name.
func (w *world) bindingInStatus() string {
	w.t.Helper()
	if named := get(w, "cache", &cachev1.Memcached{}).Status.Binding; named != nil {
		return named.Name
	}
	return ""
}

// shown looks for parts of a Secret, in plain text or in base64, in three texts: the operator's log, the events and the
// Memcached. It returns those of the three texts that contain a part of a Secret.
func (w *world) shown() (found []string) {
	w.t.Helper()
	log, err := os.ReadFile(w.log)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	list := &eventsv1.EventList{}
	w.Expect(cluster.List(w.ctx, list, client.InNamespace(w.namespace))).To(gomega.Succeed())
	w.Expect(list.Items).NotTo(gomega.BeEmpty())
	mc := spelled(w, get(w, "cache", &cachev1.Memcached{}))
	for _, text := range []string{string(log), fmt.Sprintf("%+v", list.Items), mc} {
		if history.IsSecret(text) {
			found = append(found, text)
		}
	}
	return found
}

// rotationLimit is how soon a new password must be in the binding.
const rotationLimit = 5 * time.Second

func TestABindingFollowsItsSecretsAndShowsNothingOfThem(t *testing.T) {
	w := newWorld(t)
	w.mayBind("shop")
	const first, second, third = password + "-1", password + "-2", password + "-3"
	w.secret("users", map[string]string{"users": "ann:" + first + "\nbob:" + password})
	w.secret("tls", certificate(t, time.Now().Add(time.Hour), certificates.NewAuthority(t, "servers")))
	w.memcached("cache", 1)
	w.patchSpec(`{"auth":{"secretName":"users"},"tls":{"secretName":"tls"},"binding":{"secretName":"shop"}}`)
	w.ready("cache")
	endpoint := "cache." + w.namespace + ".svc"
	secret := w.binding("shop", map[string]string{
		"type": "memcached", "host": endpoint, "port": "11212",
		"endpoints": endpoint + ":11212", "username": "ann", "password": first,
		"ca.crt": string(get(w, "tls", &corev1.Secret{}).Data["ca.crt"]),
	})
	mc := get(w, "cache", &cachev1.Memcached{})
	if secret.Type != "servicebinding.io/memcached" || !metav1.IsControlledBy(secret, mc) || w.bindingInStatus() != "shop" {
		t.Errorf("a Secret of the type %s, owned by %v; status.binding %+v", secret.Type, secret.OwnerReferences, mc.Status.Binding)
	}

	began := time.Now()
	w.secret("users", map[string]string{"users": "ann:" + first + "\nbob:" + password + "\nann:" + second})
	w.binding("shop", map[string]string{"username": "ann", "password": second})
	if took := time.Since(began); took > rotationLimit {
		t.Errorf("a new password is in the binding after %s", took)
	}
	w.secret("users", map[string]string{"username": "carl", "password": third})
	w.binding("shop", map[string]string{"username": "carl", "password": third})
	w.patchSpec(`{"tls":null}`)
	w.ready("cache")
	w.binding("shop", map[string]string{"endpoints": endpoint + ":11211", "ca.crt": ""})

	for _, edit := range []string{
		`{"stringData":{"password":"` + password + `-by-others"}}`,
		`{"data":{"username":null},"metadata":{"labels":{"app":"` + password + `"}}}`,
		`{"metadata":{"labels":{"cache.example.com/binding":null,"app":null}}}`,
		`{"data":null}`,
	} {
		w.patch(&corev1.Secret{}, "shop", edit)
		secret = w.binding("shop", map[string]string{"username": "carl", "password": third})
		eventually(w, "shop", secret, func(s *corev1.Secret) bool { return s.Labels["cache.example.com/binding"] == "true" })
	}
	w.Eventually(func() []string { return w.notes("DriftCorrected") }).Should(gomega.ContainElement(gomega.HavePrefix(
		`Secret "shop": drift reverted: .data.password (not shown) -> (not shown) by `)))
	w.patch(&corev1.Secret{}, "shop", `{"stringData":{"others":"`+password+`"}}`)
	w.quiet()
	if got := get(w, "shop", secret).Data["others"]; string(got) != password {
		t.Errorf("the entry of another client is %q", got)
	}
	if shown := w.shown(); len(shown) > 0 {
		t.Errorf("a Secret is shown in %s", shown)
	}
}

func TestABindingReplacesNoPodAndCostsNoRequestsAtRest(t *testing.T) {
	w := newWorld(t)
	w.mayBind("shop", "store")
	w.secret("users", map[string]string{"users": "ann:" + password})
	w.memcached("cache", 1)
	w.patchSpec(`{"auth":{"secretName":"users"}}`)
	w.ready("cache")
	pods := w.uids("cache")
	before := len(w.quiet())
	w.patchSpec(`{"binding":{"secretName":"shop"}}`)
	w.Eventually(w.bindingInStatus).Should(gomega.Equal("shop"))
	want := []string{"get secrets", "patch memcacheds/status", "patch secrets"}
	if diff := cmp.Diff(want, w.quiet()[before:], unordered); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}

	after := w.restarts()
	// One request lists the Secrets for the watch. If the operator first sees the cache without a binding, it lists
	// Secrets once more, to find those that are left.
	if ofSecrets := slices.DeleteFunc(slices.Clone(after), func(r string) bool { return !strings.HasSuffix(r, " secrets") }); len(ofSecrets) < 1 || len(ofSecrets) > 2 {
		t.Errorf("requests of a restarted operator: %v", after)
	}
	before = len(w.quiet())
	w.secret("users", map[string]string{"users": "ann:" + password + "-2"})
	w.binding("shop", map[string]string{"password": password + "-2"})
	w.patchSpec(`{"binding":{"secretName":"store"}}`)
	late := w.binding("store", map[string]string{"password": password + "-2"}).DeepCopy()
	w.isDeleted("shop")
	w.Eventually(w.bindingInStatus).Should(gomega.Equal("store"))
	if asked := w.quiet()[before:]; count(asked, "get secrets") > 2 {
		t.Errorf("requests of a rotation and another name: %v", asked)
	}

	w.stop()
	w.patchSpec(`{"binding":null}`)
	w.start()
	w.isDeleted("store")
	w.Eventually(w.bindingInStatus).Should(gomega.BeEmpty())
	// This Secret is like one that the operator created late, for a spec that had already changed, so no status names it.
	late.UID, late.ResourceVersion, late.ManagedFields = "", "", nil
	w.Expect(cluster.Create(w.ctx, late)).To(gomega.Succeed())
	w.isDeleted("store")
	w.stop()
	late.ResourceVersion = ""
	w.Expect(cluster.Create(w.ctx, late)).To(gomega.Succeed())
	w.start()
	w.isDeleted("store")
	if diff := cmp.Diff(pods, w.uids("cache")); diff != "" {
		t.Errorf("Pods (-before +after):\n%s", diff)
	}
}

func TestABindingStaysWhileItsSecretsCannotBeUsed(t *testing.T) {
	w := newWorld(t)
	w.mayBind("shop")
	w.bound("shop")
	w.reason("cache", cachev1.ReasonSecretNotFound)
	key := client.ObjectKey{Namespace: w.namespace, Name: "shop"}
	w.Expect(apierrors.IsNotFound(cluster.Get(w.ctx, key, &corev1.Secret{}))).To(gomega.BeTrue(), "there is no login yet")
	w.secret("users", map[string]string{"users": "ann:" + password})
	w.binding("shop", map[string]string{"username": "ann", "password": password})
	w.secret("users", map[string]string{"users": "no colon " + password})
	w.reason("cache", cachev1.ReasonInvalidSecret)
	w.binding("shop", map[string]string{"username": "ann", "password": password})
	w.Expect(w.bindingInStatus()).To(gomega.Equal("shop"))
}

func TestOwnershipConflictWhereASecretHasTheNameOfTheBinding(t *testing.T) {
	w := newWorld(t)
	w.mayBind("unowned", "shop")
	w.secret("users", map[string]string{"users": "ann:" + password})
	w.secret("unowned", map[string]string{"password": password})
	unowned := get(w, "unowned", &corev1.Secret{})
	w.bound("unowned")
	w.reason("cache", cachev1.ReasonOwnershipConflict)
	w.says("cache", `Secret "unowned" already exists and has no owner; the operator did not change it`)
	w.patchSpec(`{"binding":{"secretName":"shop"}}`)
	w.binding("shop", map[string]string{"password": password})

	w.patch(&corev1.Secret{}, "shop", `{"immutable":true}`)
	w.reason("cache", cachev1.ReasonOwnershipConflict)
	w.says("cache", `Secret "shop" already exists and has a different content, which is immutable; the operator did not change it. `+
		`Fix: delete it, and the operator creates it again`)
	w.Expect(cluster.Delete(w.ctx, get(w, "shop", &corev1.Secret{}))).To(gomega.Succeed())
	w.reason("cache", cachev1.ReasonScaledToZero)
	w.binding("shop", map[string]string{"password": password})
	w.patchSpec(`{"binding":null}`)
	w.isDeleted("shop")
	if diff := cmp.Diff(unowned, get(w, "unowned", &corev1.Secret{})); diff != "" {
		t.Errorf("the Secret of another client (-before +after):\n%s", diff)
	}
}

func TestInvalidSpecSaysWhatABindingNeeds(t *testing.T) {
	w := newWorld(t)
	w.secret("users", map[string]string{"users": "ann:" + password})
	w.bound("shop")
	mc := w.reason("cache", cachev1.ReasonInvalidSpec)
	message := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady).Message
	if want := "spec.binding needs rights that this operator was installed without (create secrets, patch secrets, delete secrets): " +
		"install it with the component overlays/components/binding or the chart's value rbac.binding=true, or remove spec.binding"; message != want {
		t.Errorf("the status says %q", message)
	}
	w.mayBind("shop")
	w.reason("cache", cachev1.ReasonScaledToZero) // This needs no restart, and takes at most a minute.
	w.binding("shop", map[string]string{"password": password})
}
