package integration

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestADeploymentOfTheTutorialsOperatorBecomesOwned(t *testing.T) {
	t.Parallel()
	const size = 4 // With the tutorial's rollout strategy, one of four Pods may be missing.
	w := emptyWorld(t, operatorKubeconfig)
	w.allow("no rollout that no one requested") // The taken over fields are in the Pod template.
	mc := w.memcached("cache", size)
	w.statusOfTheTutorial(mc)
	w.makeAs(tutorialManager, tutorialDeployment(mc), extended)
	w.changedByOthers("cache")
	before, old, rollouts := w.rolledOut("cache"), w.uids("cache"), w.rollouts("cache")
	fewest := w.fewestReady("cache")

	w.start()
	mc = w.ready("cache")

	w.Expect(fewest()).To(gomega.BeNumerically(">=", size), "no moment of fewer ready Pods")
	after := w.deployment("cache")
	w.Expect(after.UID).To(gomega.Equal(before.UID))
	w.Expect(after.Spec.Selector).To(gomega.Equal(before.Spec.Selector))
	w.Expect(w.rollouts("cache")).To(gomega.Equal(rollouts+1), "the Pods were replaced once")
	w.Expect(w.uids("cache")).NotTo(gomega.ContainElements(old))
	w.Expect(mc.Status.Nodes).To(gomega.Equal(podNames(w.pods("cache"))))
	for _, former := range []string{"Available", "Degraded"} {
		w.Expect(meta.FindStatusCondition(mc.Status.Conditions, former)).To(gomega.BeNil(), former)
	}
	w.Expect(get(w, "cache", &corev1.Service{}).Spec.ClusterIP).To(gomega.Equal(corev1.ClusterIPNone))
	get(w, "cache", &policyv1.PodDisruptionBudget{})
	if diff := cmp.Diff([]string{
		"injector Apply", "kube-controller-manager Update status", "kubectl-edit Update", "kubectl-rollout Update",
		"memcached-operator Apply",
	}, managers(after)); diff != "" {
		t.Errorf("managers (-want +got):\n%s", diff)
	}
	requests := w.quiet()
	if diff := cmp.Diff([]int{1, 2}, []int{count(requests, "get deployments"), count(requests, "patch "+
		"deployments")}); diff != "" {
		t.Errorf("reads and writes of the Deployment (-want +got):\n%s\n%v", diff, requests)
	}
	w.Eventually(w.events).Should(gomega.ContainElement("Normal Updated Deployment"))
	w.Expect(w.events()).NotTo(gomega.ContainElement(gomega.HavePrefix("Warning")), "nobody has changed what was owned")

	w.stop()
	w.start()
	w.memcached("fresh", size)
	want := w.ready("fresh") // Now the restarted operator has reconciled all caches.
	w.Expect(count(w.quiet()[len(requests):], "get")).To(gomega.BeZero())
	assertSameButForOthers(w, w.deployment(want.Name), w.deployment("cache"))
	w.Expect(w.deployment("cache").Generation).To(gomega.Equal(after.Generation))
}

// assertSameButForOthers checks that an inherited Deployment is the same as one that this operator created, except for
// the changes of changedByOthers.
func assertSameButForOthers(w *world, fresh, inherited *appsv1.Deployment) {
	w.t.Helper()
	fresh.Labels["team"] = "shop"
	template := &fresh.Spec.Template
	template.Annotations["kubectl.kubernetes.io/restartedAt"] = "2026-01-01T00:00:00Z"
	template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "EDITED", Value: "yes"}}
	template.Spec.Containers = append(template.Spec.Containers, corev1.Container{
		Name: "sidecar", Image: "registry.example.com/sidecar:1", ImagePullPolicy: corev1.PullIfNotPresent,
		TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
	})
	owner := func(d *appsv1.Deployment) string { return d.OwnerReferences[0].APIVersion }
	as := func(d *appsv1.Deployment) string {
		content, err := json.MarshalIndent(map[string]any{
			"labels": d.Labels, "spec": d.Spec, "owners": len(d.OwnerReferences), "owner": owner(d),
		}, "", " ")
		w.Expect(err).NotTo(gomega.HaveOccurred())
		return strings.ReplaceAll(string(content), `"fresh"`, `"cache"`)
	}
	if diff := cmp.Diff(as(fresh), as(inherited)); diff != "" {
		w.t.Errorf("a Deployment that the operator created and the inherited one (-created +inherited):\n%s", diff)
	}
	w.Expect(inherited.Annotations).To(gomega.HaveKeyWithValue("injector.example.com/injected", "yes"))
}

func TestWhoseFieldsAreTakenOver(t *testing.T) {
	tests := map[string]struct {
		maker  string
		change func(*appsv1.Deployment)
		size   int32
		env    []string
		flags  []string
		taken  bool
	}{
		"the tutorial's, whose Deployment has no labels":   {maker: "manager", size: 2, taken: true},
		"the tutorial's, of a Deployment without Pods":     {maker: "manager", size: 0, taken: true},
		"the tutorial's, whose Deployment has our labels":  {maker: "manager", size: 2, taken: true, change: labelled},
		"nobody's, where the list is empty":                {maker: "manager", size: 2, flags: []string{"--legacy-field-managers="}},
		"nobody's, where the list is empty by environment": {maker: "manager", size: 2, env: []string{"LEGACY_FIELD_MANAGERS="}},
		"not those of an operator that is not in the list": {maker: "managers", size: 2},
		"those of an operator that is called as we are, where the list says so": {
			maker: "memcached-operator", size: 2, env: []string{"LEGACY_FIELD_MANAGERS=manager, memcached-operator"}, taken: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := emptyWorld(t, operatorKubeconfig)
			w.allow("no rollout that no one requested") // The taken over fields are in the Pod template.
			mc := w.memcached("cache", tc.size)
			w.makeAs(tc.maker, tutorialDeployment(mc), tc.change)
			w.rolledOut("cache")

			w.startWith(tc.env, append(tc.flags, "--watch-namespaces="+w.namespace)...)
			w.ready("cache")

			after := w.deployment("cache")
			if taken := len(after.Spec.Template.Spec.Containers[0].Command) == 0; taken != tc.taken {
				t.Errorf("the former operator's command is deleted: %v, want %v", taken, tc.taken)
			}
			if tc.taken {
				w.Expect(managers(after)).NotTo(gomega.ContainElement(tc.maker + " Update"))
			} else {
				w.Expect(managers(after)).To(gomega.ContainElement(tc.maker + " Update"))
			}
			w.Expect(count(w.quiet(), "get deployments")).To(gomega.BeNumerically("<=", 1))
		})
	}
}

func labelled(deployment *appsv1.Deployment) {
	deployment.Labels = map[string]string{"app": "memcached", "memcached_cr": deployment.Name}
}

func TestFieldsAreTakenOverOnce(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, operatorKubeconfig)
	w.allow("no rollout that no one requested") // The taken over fields are in the Pod template.
	w.makeAs(tutorialManager, tutorialDeployment(w.memcached("cache", 1)), nil)
	w.start()
	w.ready("cache")

	namesake := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{
		"labels":{"example.com/namesake":"yes"},"annotations":{"cache.example.com/applied-hash":null}}}`))
	w.Expect(cluster.Patch(w.ctx, w.deployment("cache"), namesake, client.FieldOwner(tutorialManager))).To(gomega.Succeed())

	after := eventually(w, "cache", &appsv1.Deployment{}, func(d *appsv1.Deployment) bool {
		return d.Annotations["cache.example.com/applied-hash"] != ""
	})
	w.Expect(after.Labels).To(gomega.HaveKey("example.com/namesake"), "it may be another operator of that name")
	w.Expect(managers(after)).To(gomega.ContainElement("manager Update"))
}

func TestATutorialDeploymentThatIsRefusedAtFirstIsTakenOverLater(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, operatorKubeconfig)
	w.makeAs(tutorialManager, tutorialDeployment(w.memcached("cache", 1)), nil)
	w.rolledOut("cache")
	w.patchSpec(`{"placement":{"tolerations":[{"operator":"Exists","effect":"OnlyTheAPIServerKnows"}]}}`)
	w.start()
	w.reason("cache", cachev1.ReasonInvalidSpec)
	w.Expect(managers(w.deployment("cache"))).To(gomega.ContainElement("memcached-operator Apply"))
	w.Expect(w.deployment("cache").Spec.Template.Spec.Containers[0].Command).NotTo(gomega.BeEmpty())

	w.patchSpec(`{"placement":null}`)
	w.ready("cache")

	w.Expect(w.deployment("cache").Spec.Template.Spec.Containers[0].Command).To(gomega.BeEmpty())
}

// TestADeploymentWithTheSelectorOfALaterTutorialStaysAsItIs: its selector is immutable, so the operator can't take it
// over.
func TestADeploymentWithTheSelectorOfALaterTutorialStaysAsItIs(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, operatorKubeconfig)
	deployment := tutorialDeployment(w.memcached("cache", 2))
	later := map[string]string{
		"app.kubernetes.io/name": "memcached-operator", "app.kubernetes.io/version": "1.6.26-alpine3.19",
		"app.kubernetes.io/managed-by": "MemcachedController",
	}
	deployment.Spec.Selector, deployment.Spec.Template.Labels = &metav1.LabelSelector{MatchLabels: later}, later
	w.makeAs(tutorialManager, deployment, nil)
	before := settled(w, deployment)

	w.start()
	mc := w.reason("cache", cachev1.ReasonOwnershipConflict)

	w.Expect(meta.FindStatusCondition(mc.Status.Conditions, "Ready").Message).To(gomega.Equal(
		`Deployment "cache" already exists and has a different selector, which is immutable; the operator did not change it. Fix: ` +
			"delete it, and the operator creates it again"))
	if diff := cmp.Diff(before, spelled(w, deployment)); diff != "" {
		t.Errorf("the Deployment was changed (-before +after):\n%s", diff)
	}
	w.Expect(cluster.Delete(w.ctx, deployment)).To(gomega.Succeed())
	w.Eventually(func() bool { return len(w.pods("cache")) == 2 }, patience).Should(gomega.BeTrue())
	w.ready("cache")
}

// settled waits until the workload controllers have nothing more to write to an object, and returns it as text.
func settled(w *world, object client.Object) string {
	w.t.Helper()
	if deployment, ok := object.(*appsv1.Deployment); ok {
		eventually(w, deployment.Name, deployment, func(d *appsv1.Deployment) bool {
			return d.Status.ObservedGeneration == d.Generation && d.Status.Replicas == *d.Spec.Replicas &&
				d.Status.UnavailableReplicas == *d.Spec.Replicas && len(d.Status.Conditions) == 2
		})
	}
	return spelled(w, object)
}
