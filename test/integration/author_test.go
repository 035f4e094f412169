package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/crd"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// marker is a text in objects that the author of a Memcached may not read. A rule of the model checks that the operator
// shows it nowhere.
const marker = history.SecretMarker

// TestAnAuthorReachesNoObjectOfAnotherNamespace runs an operator with rights in all namespaces, and a Memcached that
// names objects of another namespace in each field. It takes the fields from the CRD.
func TestAnAuthorReachesNoObjectOfAnotherNamespace(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, clusterKubeconfig)
	w.allow("no hot loop") // The spec changes as soon as the operator has reconciled it.
	w.startWith(nil, "--watch-namespaces="+w.namespace)
	others := &world{WithT: w.WithT, t: t, ctx: w.ctx, namespace: w.newNamespace()}
	w.mayBind()
	others.mayBind()
	objects := others.tenant(t)
	mc := w.memcached("cache", 1)
	w.ready("cache")

	w.patchSpec(`{"tls":{"secretName":"tls"},"auth":{"secretName":"users"}}`)
	w.reason("cache", cachev1.ReasonSecretNotFound)
	accepted := w.namesOthers(mc, others.namespace)
	t.Logf("%d specs were accepted", accepted)
	if accepted == 0 {
		t.Error("no spec was accepted, so nothing was tried")
	}

	for _, request := range audit.read() {
		if request.User.Username == clusterOperatorUser && request.ObjectRef.Namespace == others.namespace {
			t.Errorf("the operator asked another namespace: %s", request)
		}
	}
	for _, object := range objects {
		for _, writer := range others.writers(object) {
			if strings.Contains(writer, "memcached") {
				t.Errorf("%T of another namespace was written by %s", object, writer)
			}
		}
	}
}

// tenant creates objects with the name of the Memcached "cache", and Secrets with names that its spec may contain.
func (w *world) tenant(t *testing.T) []client.Object {
	t.Helper()
	tls := certificate(t, time.Now().Add(time.Hour))
	tls["note"] = marker
	w.secret("tls", tls)
	w.secret("users", map[string]string{"username": "ann", "password": marker})
	w.secret("registry", map[string]string{".dockerconfigjson": marker})
	meta := metav1.ObjectMeta{
		Namespace: w.namespace, Name: "cache", Labels: ourSelector, Annotations: map[string]string{"example.com/note": marker},
	}
	deployment := deploymentLike(w.namespace, ourSelector)
	deployment.ObjectMeta, deployment.Spec.Replicas = meta, new(int32(0))
	deployment.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PASSWORD", Value: marker}}
	service := serviceLike(w.namespace, corev1.ClusterIPNone)
	service.ObjectMeta = meta
	objects := []client.Object{
		deployment, service, &networkingv1.NetworkPolicy{ObjectMeta: meta}, &policyv1.PodDisruptionBudget{ObjectMeta: meta},
		&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"note": marker}},
	}
	for _, object := range objects {
		w.Expect(cluster.Create(w.ctx, object, client.FieldOwner("tenant"))).To(gomega.Succeed())
	}
	return objects
}

// namesOthers sets each text field to names of the other namespace's objects, in several forms: as a path, as a prefix
// and as a part. It returns how many of these specs the API server accepted.
func (w *world) namesOthers(mc *cachev1.Memcached, other string) (accepted int) {
	w.t.Helper()
	fields, err := crd.Fields(repository)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	settable, err := crd.SettableFields(repository)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	spec, err := crd.EveryField()
	w.Expect(err).NotTo(gomega.HaveOccurred())
	for _, field := range settable {
		with, _ := crd.Only(fields, spec, field.Path)
		for _, name := range []string{other, other + "/tls", "../" + other + "/users", "tls." + other, "kubernetes.io/" + other} {
			if w.tries(mc, replaceTexts(with, name).(map[string]any)) {
				accepted++
			}
		}
	}
	return accepted
}

// tries replaces the spec of a Memcached, and returns whether the API server accepted the new spec. If so, tries waits
// until the operator has reconciled the Memcached.
func (w *world) tries(mc *cachev1.Memcached, spec map[string]any) bool {
	w.t.Helper()
	there := &unstructured.Unstructured{}
	there.SetGroupVersionKind(cachev1.GroupVersion.WithKind("Memcached"))
	for {
		w.Expect(cluster.Get(w.ctx, client.ObjectKeyFromObject(mc), there)).To(gomega.Succeed())
		there.Object["spec"] = spec
		err := cluster.Update(w.ctx, there)
		if apierrors.IsConflict(err) {
			continue // The operator has written the status in the meantime.
		}
		if err != nil {
			w.Expect(apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)).To(gomega.BeTrue(), "%v", err)
			return false
		}
		eventually(w, mc.Name, mc, func(mc *cachev1.Memcached) bool { return mc.Status.ObservedGeneration == mc.Generation })
		return true
	}
}

// replaceTexts replaces each text in a spec, and each key that can't be the name of a field because it contains a dot
// or a slash.
func replaceTexts(value any, name string) any {
	switch value := value.(type) {
	case string:
		return name
	case []any:
		all := []any{}
		for _, item := range value {
			all = append(all, replaceTexts(item, name))
		}
		return all
	case map[string]any:
		all := map[string]any{}
		for key, item := range value {
			if strings.ContainsAny(key, "./") {
				key = "example.com/" + strings.NewReplacer("/", "-", "..", "").Replace(name)
			}
			all[key] = replaceTexts(item, name)
		}
		return all
	}
	return value
}

// TestAnAuthorLearnsNothingOfASecretFromTheStatus names Secrets that have another purpose, or invalid content.
func TestAnAuthorLearnsNothingOfASecretFromTheStatus(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	w.ready("cache")
	good := certificate(t, time.Now().Add(time.Hour))
	block := fmt.Sprintf("-----BEGIN %s-----\neA==\n-----END %[1]s-----\n", marker)
	pair := func(key, content string) map[string]string {
		return map[string]string{"tls.crt": good["tls.crt"], "tls.key": good["tls.key"], key: content}
	}
	for name, secret := range map[string]corev1.Secret{
		"token": {Type: corev1.SecretTypeServiceAccountToken, StringData: map[string]string{"token": marker}},
		"registry": {Type: corev1.SecretTypeDockerConfigJson, StringData: map[string]string{
			corev1.DockerConfigJsonKey: `{"auths":{"` + marker + `":{}}}`,
		}},
		"ssh":                   {Type: corev1.SecretTypeSSHAuth, StringData: map[string]string{"ssh-privatekey": marker}},
		"helm":                  {Type: "helm.sh/release.v1", StringData: pair("release", marker)},
		"names":                 {StringData: map[string]string{marker: marker}},
		"text":                  {StringData: map[string]string{"tls.crt": marker, "tls.key": marker, "users": marker}},
		"text-for-a-key":        {StringData: pair("tls.key", marker)},
		"another-pem":           {StringData: pair("tls.key", block)},
		"another-pem-and-text":  {StringData: pair("tls.key", marker+"\n"+block+good["tls.crt"])},
		"another-pem-and-chain": {StringData: pair("tls.crt", block)},
		"a-list-and-a-user":     {StringData: map[string]string{"users": "a:" + marker, "username": marker, "password": marker}},
		"a-line-too-many":       {StringData: map[string]string{"users": "a:b\n" + marker + "\n"}},
		"a-blank":               {StringData: map[string]string{"username": marker, "password": marker + " x"}},
	} {
		secret.Namespace, secret.Name = w.namespace, name
		secret.Annotations = map[string]string{corev1.ServiceAccountNameKey: "default", "example.com/note": marker}
		w.Expect(cluster.Create(w.ctx, &secret)).To(gomega.Succeed())
		for _, spec := range []string{`{"auth":null,"tls":{"secretName":%q}}`, `{"auth":{"secretName":%q},"tls":null}`} {
			w.patchSpec(fmt.Sprintf(spec, name))
			w.reason("cache", cachev1.ReasonInvalidSecret)
			w.Expect(w.deployment("cache").Spec.Template.Spec.Volumes).To(gomega.BeEmpty(), "%s is not mounted", name)
		}
	}
}

// TestTheAdministratorLimitsWhatAnAuthorNames: an author may name some things as in any Pod, such as a priority class.
// For these, the API server's limits for Pods hold, too.
func TestTheAdministratorLimitsWhatAnAuthorNames(t *testing.T) {
	for name, tc := range map[string]struct {
		scope corev1.ScopedResourceSelectorRequirement
		spec  string
	}{
		"a priority": {
			corev1.ScopedResourceSelectorRequirement{
				ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{"system-cluster-critical"},
			},
			`{"placement":{"priorityClassName":"system-cluster-critical"}}`,
		},
		"Pods of other namespaces": {
			corev1.ScopedResourceSelectorRequirement{
				ScopeName: corev1.ResourceQuotaScopeCrossNamespacePodAffinity, Operator: corev1.ScopeSelectorOpExists,
			},
			`{"placement":{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[` +
				`{"topologyKey":"kubernetes.io/hostname","namespaces":["kube-system"],"labelSelector":{}}]}}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Expect(cluster.Create(w.ctx, &corev1.ResourceQuota{
				ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "forbidden"},
				Spec: corev1.ResourceQuotaSpec{
					Hard:          corev1.ResourceList{"pods": resource.MustParse("0")},
					ScopeSelector: &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{tc.scope}},
				},
			})).To(gomega.Succeed())
			w.quotaIsKnown()
			w.memcached("cache", 1)
			w.ready("cache")
			w.patchSpec(tc.spec)
			w.says("cache", "exceeded quota: forbidden")
		})
	}
}

// TestARestrictedNamespaceTakesThePodsOfEachMode checks that a namespace with the restricted Pod Security Standard
// accepts the Pods, and that the operator refuses specs whose Pods the API server would refuse.
func TestARestrictedNamespaceTakesThePodsOfEachMode(t *testing.T) {
	w := newWorld(t)
	space := &corev1.Namespace{}
	w.Expect(cluster.Get(w.ctx, client.ObjectKey{Name: w.namespace}, space)).To(gomega.Succeed())
	space.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
	w.Expect(cluster.Update(w.ctx, space)).To(gomega.Succeed())
	w.secret("tls", certificate(t, time.Now().Add(time.Hour)))
	w.secret("users", map[string]string{"users": "ann:a"})
	w.memcached("cache", 1)
	for _, spec := range []string{
		`{}`, `{"tls":{"secretName":"tls"}}`, `{"auth":{"secretName":"users"}}`, `{"tls":null,"metrics":{"mode":"Disabled"}}`, `{"auth":null}`,
	} {
		w.patchSpec(spec)
		w.ready("cache")
	}
	w.patchSpec(`{"podTemplate":{"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/memcached":"unconfined"}}}}`)
	w.reason("cache", cachev1.ReasonInvalidSpec)
	w.says("cache", "refused by the restricted Pod Security Standard")
	w.Expect(get(w, "cache", &appsv1.Deployment{}).Spec.Template.Annotations).NotTo(gomega.HaveKey(gomega.ContainSubstring("apparmor")))
}
