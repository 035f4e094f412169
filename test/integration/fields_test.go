package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// patchSpec changes the spec of the Memcached "cache".
func (w *world) patchSpec(spec string) {
	w.t.Helper()
	w.patch(&cachev1.Memcached{}, "cache", `{"spec":`+spec+`}`)
}

func (w *world) patch(object client.Object, name, patch string) {
	w.t.Helper()
	raw := client.RawPatch("application/merge-patch+json", []byte(patch))
	w.Expect(cluster.Patch(w.ctx, get(w, name, object), raw, client.FieldOwner("somebody"))).To(gomega.Succeed())
}

func TestEveryFieldReachesTheClusterAndLeavesItAgain(t *testing.T) {
	pod := func(d *appsv1.Deployment) *corev1.PodSpec { return &d.Spec.Template.Spec }
	container := func(d *appsv1.Deployment) *corev1.Container { return &pod(d).Containers[0] }
	arguments := func(d *appsv1.Deployment) string { return strings.Join(container(d).Args, " ") }
	tests := map[string]struct {
		set, unset string
		is         func(*appsv1.Deployment) any
		want       any
	}{
		"image": {
			`{"image":"registry.example.com:5000/team/memcached"}`, `{"image":null}`,
			func(d *appsv1.Deployment) any { return container(d).Image }, "registry.example.com:5000/team/memcached",
		},
		"imagePullPolicy": {
			`{"imagePullPolicy":"Always"}`, `{"imagePullPolicy":null}`,
			func(d *appsv1.Deployment) any {
				return []corev1.PullPolicy{container(d).ImagePullPolicy, pod(d).InitContainers[0].ImagePullPolicy}
			}, []corev1.PullPolicy{"Always", "Always"},
		},
		"imagePullSecrets": {
			`{"imagePullSecrets":[{"name":"mirror"}]}`, `{"imagePullSecrets":null}`,
			func(d *appsv1.Deployment) any { return pod(d).ImagePullSecrets }, []corev1.LocalObjectReference{{Name: "mirror"}},
		},
		"memory": {
			`{"memory":"128Mi"}`, `{"memory":null}`,
			func(d *appsv1.Deployment) any { return container(d).Args[1] }, "--memory-limit=128",
		},
		"maxItemSize": {
			`{"maxItemSize":"2Mi"}`, `{"maxItemSize":null}`,
			func(d *appsv1.Deployment) any { return container(d).Args[4] }, "--max-item-size=2097152",
		},
		"maxConnections": {
			`{"maxConnections":2000}`, `{"maxConnections":null}`,
			func(d *appsv1.Deployment) any { return container(d).Args[2] }, "--conn-limit=2055",
		},
		"threads": {
			`{"threads":2}`, `{"threads":null}`,
			func(d *appsv1.Deployment) any { return container(d).Args[3] }, "--threads=2",
		},
		"extraArgs": {
			`{"extraArgs":["-f","1.08"]}`, `{"extraArgs":null}`,
			func(d *appsv1.Deployment) any { return container(d).Args[5:] }, []string{"-f", "1.08"},
		},
		"resources": {
			`{"resources":{"limits":{"cpu":"1","memory":"1Gi"}}}`, `{"resources":null}`,
			func(d *appsv1.Deployment) any { return container(d).Resources.Limits.Memory().String() }, "1Gi",
		},
		"agent.resources": {
			`{"agent":{"resources":{"limits":{"cpu":"100m","memory":"96Mi"}}}}`, `{"agent":null}`,
			func(d *appsv1.Deployment) any {
				limits := pod(d).InitContainers[0].Resources.Limits
				return []string{limits.Cpu().String(), limits.Memory().String()}
			}, []string{"100m", "96Mi"},
		},
		"architectures": {
			`{"architectures":["s390x"]}`, `{"architectures":null}`,
			func(d *appsv1.Deployment) any {
				required := pod(d).Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
				return len(required.NodeSelectorTerms[0].MatchExpressions)
			}, 2,
		},
		"preferredArchitectures": {
			`{"preferredArchitectures":[{"architecture":"arm64","weight":7}]}`, `{"preferredArchitectures":null}`,
			func(d *appsv1.Deployment) any {
				return len(pod(d).Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
			}, 1,
		},
		"placement.nodeSelector": {
			`{"placement":{"nodeSelector":{"pool":"caches"}}}`, `{"placement":null}`,
			func(d *appsv1.Deployment) any { return pod(d).NodeSelector["pool"] }, "caches",
		},
		"placement.tolerations": {
			`{"placement":{"tolerations":[{"key":"caches","operator":"Exists"}]}}`, `{"placement":null}`,
			func(d *appsv1.Deployment) any { return len(pod(d).Tolerations) }, 1,
		},
		"placement.topologySpreadConstraints": {
			`{"placement":{"topologySpreadConstraints":[]}}`, `{"placement":null}`,
			func(d *appsv1.Deployment) any { return len(pod(d).TopologySpreadConstraints) }, 0,
		},
		"placement.schedulerName": {
			`{"placement":{"schedulerName":"batch"}}`, `{"placement":null}`,
			func(d *appsv1.Deployment) any { return pod(d).SchedulerName }, "batch",
		},
		"rollout.drainSeconds": {
			`{"rollout":{"drainSeconds":120}}`, `{"rollout":null}`,
			func(d *appsv1.Deployment) any {
				return []int64{container(d).Lifecycle.PreStop.Sleep.Seconds, *pod(d).TerminationGracePeriodSeconds}
			}, []int64{120, 135},
		},
		"rollout.drainSeconds of 0": {
			`{"rollout":{"drainSeconds":0}}`, `{"rollout":{"drainSeconds":null}}`,
			func(d *appsv1.Deployment) any {
				return []any{container(d).Lifecycle == nil, *pod(d).TerminationGracePeriodSeconds}
			}, []any{true, int64(15)},
		},
		"rollout": {
			`{"rollout":{"maxSurge":"50%","maxUnavailable":1,"minReadySeconds":1,"progressDeadlineSeconds":60}}`, `{"rollout":null}`,
			func(d *appsv1.Deployment) any {
				return []any{d.Spec.Strategy.RollingUpdate.MaxSurge.String(), d.Spec.MinReadySeconds, *d.Spec.ProgressDeadlineSeconds}
			}, []any{"50%", int32(1), int32(60)},
		},
		"tls": {
			`{"tls":{"secretName":"tls"}}`, `{"tls":null}`,
			func(d *appsv1.Deployment) any { return len(pod(d).Volumes) }, 1,
		},
		"tls.minVersion": {
			`{"tls":{"secretName":"tls","minVersion":"VersionTLS13"}}`, `{"tls":null}`,
			func(d *appsv1.Deployment) any { return strings.HasSuffix(arguments(d), ",ssl_min_version=3") }, true,
		},
		"tls.cipherSuites": {
			`{"tls":{"secretName":"tls","cipherSuites":["ECDHE-RSA-AES256-SHA","ECDHE-RSA-AES128-SHA"]}}`, `{"tls":null}`,
			func(d *appsv1.Deployment) any {
				return strings.HasSuffix(arguments(d), ",ssl_ciphers=ECDHE-RSA-AES128-SHA:ECDHE-RSA-AES256-SHA")
			}, true,
		},
		"auth": {
			`{"auth":{"secretName":"users"}}`, `{"auth":null}`,
			func(d *appsv1.Deployment) any { return []any{len(pod(d).Volumes), pod(d).ShareProcessNamespace != nil} },
			[]any{2, true},
		},
		"metrics": {
			`{"metrics":{"mode":"Disabled"}}`, `{"metrics":null}`,
			func(d *appsv1.Deployment) any { return len(pod(d).InitContainers) }, 0,
		},
		"metrics.slabMetrics": {
			`{"metrics":{"slabMetrics":"PerClass"}}`, `{"metrics":null}`,
			func(d *appsv1.Deployment) any { return pod(d).InitContainers[0].Args }, []string{"--slab-classes"},
		},
		"podMetadata": {
			`{"podMetadata":{"labels":{"team":"shop"},"annotations":{"example.com/a":"b"}}}`, `{"podMetadata":null}`,
			func(d *appsv1.Deployment) any {
				return []string{d.Spec.Template.Labels["team"], d.Spec.Template.Annotations["example.com/a"]}
			}, []string{"shop", "b"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.secret("tls", certificate(t, time.Time{}))
			w.secret("users", map[string]string{"users": "ann:a"})
			w.memcached("cache", 1)
			w.ready("cache")
			before := w.deployment("cache")
			is := func(want any) func(*appsv1.Deployment) bool {
				return func(d *appsv1.Deployment) bool { return cmp.Equal(tc.is(d), want) }
			}
			w.patchSpec(tc.set)
			eventually(w, "cache", &appsv1.Deployment{}, is(tc.want))
			w.ready("cache")
			w.patchSpec(tc.unset)
			eventually(w, "cache", &appsv1.Deployment{}, is(tc.is(before)))
			w.ready("cache")
			if diff := cmp.Diff(before.Spec, w.deployment("cache").Spec); diff != "" {
				t.Errorf("what is left of the field (-before +after):\n%s", diff)
			}
		})
	}
}

func TestServiceMetadataReachesTheServiceAndLeavesItAgain(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 0)
	w.ready("cache")
	w.patchSpec(`{"service":{"labels":{"team":"shop"},"annotations":{"example.com/a":"b"}}}`)
	eventually(w, "cache", &corev1.Service{}, func(s *corev1.Service) bool {
		return s.Labels["team"] == "shop" && s.Annotations["example.com/a"] == "b"
	})
	w.patchSpec(`{"service":null}`)
	eventually(w, "cache", &corev1.Service{}, func(s *corev1.Service) bool {
		_, labelled := s.Labels["team"]
		_, annotated := s.Annotations["example.com/a"]
		return !labelled && !annotated
	})
}

func TestTheDisruptionBudgetComesAndGoesWithTheSize(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 2)
	w.ready("cache")
	budget := get(w, "cache", &policyv1.PodDisruptionBudget{})
	w.Expect(*budget.Spec.MaxUnavailable).To(gomega.Equal(intstr.FromInt32(1)))

	w.patchSpec(`{"size":4,"disruption":{"maxUnavailable":"50%"}}`)
	eventually(w, "cache", &policyv1.PodDisruptionBudget{}, func(b *policyv1.PodDisruptionBudget) bool {
		return *b.Spec.MaxUnavailable == intstr.FromString("50%")
	})
	w.patchSpec(`{"size":1}`)
	w.Eventually(func() bool {
		err := cluster.Get(w.ctx, client.ObjectKeyFromObject(budget), &policyv1.PodDisruptionBudget{})
		return apierrors.IsNotFound(err)
	}).Should(gomega.BeTrue())
	w.ready("cache")
}

func TestADisruptionBudgetOfSomebodyElseIsNotDeleted(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	w.ready("cache")
	theirs := &policyv1.PodDisruptionBudget{}
	theirs.Namespace, theirs.Name, theirs.Labels = w.namespace, "cache", ourSelector
	theirs.Spec.MaxUnavailable = new(intstr.FromInt32(1))
	w.Expect(cluster.Create(w.ctx, theirs)).To(gomega.Succeed())
	w.patchSpec(`{"memory":"128Mi"}`)
	w.ready("cache")
	w.quiet()
	w.Expect(get(w, "cache", &policyv1.PodDisruptionBudget{}).UID).To(gomega.Equal(theirs.UID))

	w.patchSpec(`{"size":2}`)
	w.reason("cache", cachev1.ReasonOwnershipConflict)
}

func TestASuspendedMemcachedIsOnlyLookedAt(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 2)
	w.ready("cache")
	w.patchSpec(`{"suspend":true,"size":5}`)
	mc := w.ready("cache")
	w.Expect(mc.Status.Nodes).To(gomega.HaveLen(2), "Ready tells of the nodes that there are")
	w.Expect(mc.Status.ObservedGeneration).To(gomega.Equal(mc.Generation))
	before := w.quiet()
	w.patch(&appsv1.Deployment{}, "cache", `{"spec":{"replicas":3}}`)
	w.ready("cache")
	w.Expect(count(w.quiet(), "patch deployments")).To(gomega.Equal(count(before, "patch deployments")))
	w.patchSpec(`{"suspend":false}`)
	w.Expect(w.ready("cache").Status.Nodes).To(gomega.HaveLen(5))
}
