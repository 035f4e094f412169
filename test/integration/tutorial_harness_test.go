package integration

import (
	"slices"
	"strings"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// tutorialManager is the field manager of the Operator SDK tutorial's operator: the name of its binary.
const tutorialManager = "manager"

// tutorialDeployment returns the Deployment that the tutorial's operator creates for a Memcached, in the edition of the
// tutorial that has security contexts, and still selects by the labels app and memcached_cr.
func tutorialDeployment(mc *cachev1.Memcached) *appsv1.Deployment {
	labels := map[string]string{"app": "memcached", "memcached_cr": mc.Name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: mc.Name, Namespace: mc.Namespace,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "cache.example.com/v1alpha1", Kind: "Memcached", Name: mc.Name, UID: mc.UID,
				Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: mc.Spec.Size,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					SecurityContext: &corev1.PodSecurityContext{
						RunAsNonRoot:   new(true),
						SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
					},
					Containers: []corev1.Container{{
						Image: "memcached:1.4.36-alpine", Name: "memcached",
						Command:         []string{"memcached", "-m=64", "-o", "modern", "-v"},
						ImagePullPolicy: corev1.PullAlways,
						Ports:           []corev1.ContainerPort{{ContainerPort: 11211, Name: "memcached"}},
						SecurityContext: &corev1.SecurityContext{
							RunAsNonRoot: new(true), RunAsUser: new(int64(1001)), AllowPrivilegeEscalation: new(false),
							Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
						},
					}},
				},
			},
		},
	}
}

// extended adds fields to a Deployment, as users do who continue from the tutorial.
func extended(deployment *appsv1.Deployment) {
	deployment.Labels = map[string]string{"example.com/made-by": "tutorial"}
	template := &deployment.Spec.Template
	template.Annotations = map[string]string{"example.com/made-by": "tutorial"}
	template.Spec.ServiceAccountName = "memcached"
	template.Spec.NodeSelector = map[string]string{"example.com/pool": "caches"}
	template.Spec.Volumes = []corev1.Volume{{Name: "scratch"}}
	container := &template.Spec.Containers[0]
	container.Env = []corev1.EnvVar{{Name: "MEMCACHED_OPTIONS", Value: "-v"}}
	container.Ports = append(container.Ports, corev1.ContainerPort{ContainerPort: 9150, Name: "metrics"})
	container.VolumeMounts = []corev1.VolumeMount{{Name: "scratch", MountPath: "/scratch"}}
	container.Resources.Limits = corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse("1Gi")}
}

// makeAs creates a Deployment as an operator with this field manager does, and later updates it as a whole.
func (w *world) makeAs(manager string, deployment *appsv1.Deployment, change func(*appsv1.Deployment)) {
	w.t.Helper()
	operator := client.WithFieldOwner(cluster, manager)
	w.Expect(operator.Create(w.ctx, deployment)).To(gomega.Succeed())
	if change == nil {
		return
	}
	w.Eventually(func() error { // The Deployment controller writes, too, so there may be conflicts.
		get(w, deployment.Name, deployment)
		change(deployment)
		return operator.Update(w.ctx, deployment)
	}).Should(gomega.Succeed())
}

// statusOfTheTutorial sets the status that the tutorial's operator leaves.
func (w *world) statusOfTheTutorial(mc *cachev1.Memcached) {
	w.t.Helper()
	mc.Status.Nodes = []string{"cache-of-old"}
	for conditionType, value := range map[string]metav1.ConditionStatus{"Available": "True", "Degraded": "Unknown"} {
		meta.SetStatusCondition(&mc.Status.Conditions, metav1.Condition{
			Type: conditionType, Status: value, Reason: "Reconciling", Message: "as it was",
		})
	}
	w.Expect(client.WithFieldOwner(cluster, tutorialManager).Status().Update(w.ctx, mc)).To(gomega.Succeed())
}

// changedByOthers changes a Deployment as people and other programs do, in fields that its operator does not set.
func (w *world) changedByOthers(name string) {
	w.t.Helper()
	change := func(manager, patch string) {
		raw := client.RawPatch("application/strategic-merge-patch+json", []byte(patch))
		w.Expect(cluster.Patch(w.ctx, w.deployment(name), raw, client.FieldOwner(manager))).To(gomega.Succeed())
	}
	change("kubectl-rollout",
		`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-01T00:00:00Z"}}}}}`)
	change("kubectl-edit", `{"metadata":{"labels":{"team":"shop"}},
		"spec":{"template":{"spec":{"containers":[{"name":"memcached","env":[{"name":"EDITED","value":"yes"}]}]}}}}`)
	injected := client.RawPatch("application/apply-patch+yaml", []byte(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: `+name+`, annotations: {injector.example.com/injected: "yes"}}
spec: {template: {spec: {containers: [{name: sidecar, image: "registry.example.com/sidecar:1"}]}}}`))
	w.Expect(cluster.Patch(w.ctx, w.deployment(name), injected, client.FieldOwner("injector"))).To(gomega.Succeed())
}

// rolledOut waits for all Pods of a Deployment that no operator looks after, and makes them ready.
func (w *world) rolledOut(name string) *appsv1.Deployment {
	w.t.Helper()
	return eventually(w, name, &appsv1.Deployment{}, func(d *appsv1.Deployment) bool {
		w.run(name)
		status, size := d.Status, *d.Spec.Replicas
		return status.ObservedGeneration == d.Generation && status.UpdatedReplicas == size &&
			status.Replicas == size && status.AvailableReplicas == size
	})
}

// fewestReady watches a Deployment. The returned function returns the fewest ready Pods that it has had since.
func (w *world) fewestReady(name string) func() int32 {
	w.t.Helper()
	watch, err := cluster.Watch(w.ctx, &appsv1.DeploymentList{},
		client.InNamespace(w.namespace), client.MatchingFields{"metadata.name": name})
	w.Expect(err).NotTo(gomega.HaveOccurred())
	fewest := make(chan int32, 1)
	go func() {
		var ready []int32
		for event := range watch.ResultChan() {
			if deployment, ok := event.Object.(*appsv1.Deployment); ok {
				ready = append(ready, deployment.Status.ReadyReplicas)
			}
		}
		fewest <- slices.Min(ready)
	}()
	return func() int32 {
		watch.Stop()
		return <-fewest
	}
}

// managers returns the field managers of an object, with their operations.
func managers(object client.Object) []string {
	var managers []string
	for _, entry := range object.GetManagedFields() {
		managers = append(managers, strings.TrimSpace(entry.Manager+" "+string(entry.Operation)+" "+entry.Subresource))
	}
	slices.Sort(managers)
	return managers
}
