package integration

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestPodsNotReadyNamesTheCause(t *testing.T) {
	tests := map[string]struct {
		placement cachev1.Placement
		before    func(w *world) client.Object
		after     func(w *world)
		want      string
	}{
		"a quota on what no container has": {
			before: quotaOnLimits,
			want: "0 of 2 Pods ready; Pods cannot be created: failed quota: limits: must specify limits.cpu for: agent,memcached " +
				"(set spec.agent.resources.limits.cpu, spec.resources.limits.cpu)",
		},
		"a runtime class that there is not": {
			placement: cachev1.Placement{RuntimeClassName: "missing"},
			want:      `Pods cannot be created: pod rejected: RuntimeClass "missing" not found`,
		},
		"a LimitRange": {
			before: func(w *world) client.Object {
				return &corev1.LimitRange{
					ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "small"},
					Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
						Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{"memory": resource.MustParse("64Mi")},
					}}},
				}
			},
			want: "0 of 2 Pods ready; Pods cannot be created: maximum memory usage per Container is 64Mi, but limit is 244Mi (see spec.resources and spec.agent.resources)",
		},
		"a priority class that there is not": {
			placement: cachev1.Placement{PriorityClassName: "precious"},
			want:      "Pods cannot be created: no PriorityClass with name precious was found",
		},
		"no Node that fits": {
			after: func(w *world) { w.setPods(2, canNotBeScheduled) },
			want:  "0 of 2 Pods ready; 2 Pods: cannot be scheduled: no room",
		},
		"an image that can't be pulled": {
			after: func(w *world) { w.setPods(2, canNotBePulled) },
			want: `0 of 2 Pods ready; 2 Pods: image "x" of container "memcached" cannot be pulled ` +
				"(see spec.image; no pull Secret is set, see spec.imagePullSecrets): not found",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if tc.before != nil {
				w.Expect(cluster.Create(w.ctx, tc.before(w))).To(gomega.Succeed())
				w.quotaIsKnown()
			}
			w.create("cache", cachev1.MemcachedSpec{Size: new(int32(2)), Placement: &tc.placement})
			if tc.after != nil {
				tc.after(w)
			}
			w.Eventually(func() string {
				mc := get(w, "cache", &cachev1.Memcached{})
				ready := meta.FindStatusCondition(mc.Status.Conditions, "Ready")
				if ready == nil || ready.Reason != cachev1.ReasonPodsNotReady {
					return ""
				}
				assertContract(t, mc)
				return ready.Message
			}).Should(gomega.ContainSubstring(tc.want))
		})
	}
}

// quotaOnLimits returns a ResourceQuota for the requests and limits of a namespace, as platform teams use it.
func quotaOnLimits(w *world) client.Object {
	hard := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{"requests.cpu", "requests.memory", "limits.cpu", "limits.memory"} {
		hard[name] = resource.MustParse("8Gi")
	}
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "limits"}, Spec: corev1.ResourceQuotaSpec{Hard: hard},
	}
}

func TestACacheWithTLSAndUsersStartsUnderAQuotaOnLimitsOnceTheyAreSet(t *testing.T) {
	w := newWorld(t)
	w.secret("tls", certificate(t, time.Time{}))
	w.secret("users", map[string]string{"users": "ann:a"})
	w.Expect(cluster.Create(w.ctx, quotaOnLimits(w))).To(gomega.Succeed())
	w.quotaIsKnown()
	w.memcached("cache", 2)
	w.patchSpec(`{"tls":{"secretName":"tls"},"auth":{"secretName":"users"}}`)
	w.says("cache", "(set spec.agent.resources.limits.cpu, spec.resources.limits.cpu)")
	w.patchSpec(`{"resources":{"limits":{"cpu":"1"}},"agent":{"resources":{"limits":{"cpu":"100m"}}}}`)
	w.ready("cache")
}

// quotaIsKnown waits until the quota controller has processed the quota, if the namespace has one, because before that
// the quota has no effect.
func (w *world) quotaIsKnown() {
	w.t.Helper()
	w.Eventually(func() bool {
		quotas := &corev1.ResourceQuotaList{}
		w.Expect(cluster.List(w.ctx, quotas, client.InNamespace(w.namespace))).To(gomega.Succeed())
		return len(quotas.Items) == 0 || len(quotas.Items[0].Status.Hard) > 0
	}).Should(gomega.BeTrue())
}
